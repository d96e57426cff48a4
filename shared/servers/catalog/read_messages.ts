import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { TransactionSql } from "../../vendor/postgres.js";
import { z } from "../../vendor/zod.js";
import { messageRole } from "./add_message.ts";

/** The response of the edge function contains the text twice. */
const MAX_BYTES = 5_000_000;

const storedMessage = z.object({
  id: z.string(),
  role: messageRole,
  content: z.string(),
  client_message_id: z.string().nullable(),
  created_at: z.string().describe("ISO 8601"),
});

const storedConversation = z.object({
  id: z.string(),
  title: z.string(),
  created_at: z.string(),
  messages: z.array(storedMessage),
});
/** The messages are null if they are too long together. */
const foundConversation = storedConversation.extend({
  has_cursor: z.boolean(),
  byte_count: z.number(),
  messages: storedConversation.shape.messages.nullable(),
});

/** A message as stored in the database. */
export type StoredMessage = z.infer<typeof storedMessage>;
/** A conversation with some of its messages. */
export type StoredConversation = z.infer<typeof storedConversation>;

/** Which messages to read. */
export interface MessageRange {
  readonly conversationId: string;
  readonly limit: number;
  /** Id of a message in the conversation: reads only older ones. Null starts with the newest. */
  readonly before: string | null;
}

/**
 * Reads a conversation with its messages before a given one, newest first. Messages are numbered in
 * commit order, so messages added in the meantime never shift later pages.
 *
 * @param sql With the rights of the conversation's owner.
 * @throws SwarmError `CONVERSATION_NOT_FOUND`, `MESSAGE_NOT_FOUND` for an unknown message id,
 * `OUTPUT_TOO_LARGE`.
 */
export async function readMessages(
  sql: TransactionSql,
  { conversationId, limit, before }: MessageRange,
): Promise<StoredConversation> {
  const [row] = await sql`
    with cursor as (
      select seq from public.messages where id = ${before} and conversation_id = ${conversationId}
    ),
    page as materialized (
      select id, seq, role, content, client_message_id, created_at
      from public.messages
      where conversation_id = ${conversationId}
        and (${before}::uuid is null or seq < (select seq from cursor))
      order by seq desc
      limit ${limit}
    ),
    size as (select coalesce(sum(octet_length(content)), 0) as byte_count from page)
    select jsonb_build_object(
      'id', conversation.id, 'title', conversation.title, 'created_at', conversation.created_at,
      'has_cursor', ${before}::uuid is null or exists (select from cursor),
      'byte_count', size.byte_count,
      'messages', case when size.byte_count <= ${MAX_BYTES}::int then coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', page.id, 'role', page.role, 'content', page.content,
          'client_message_id', page.client_message_id, 'created_at', page.created_at
        ) order by page.seq desc)
        from page
      ), '[]') end
    ) as conversation
    from public.conversations as conversation
    cross join size
    where conversation.id = ${conversationId}`;
  if (row === undefined) throw conversationNotFound(conversationId);
  const { has_cursor: hasCursor, byte_count: byteCount, messages, ...conversation } =
    foundConversation.parse(row.conversation);
  if (!hasCursor) throw messageNotFound(before);
  if (messages === null) throw tooLarge(byteCount);
  return { ...conversation, messages };
}

function tooLarge(byteCount: number): SwarmError {
  return new SwarmError(
    "OUTPUT_TOO_LARGE",
    `Cannot read the messages: they have ${byteCount} bytes, but the limit is ${MAX_BYTES}`,
    { hint: "Read fewer at a time, with a smaller limit of list_messages." },
  );
}

function conversationNotFound(id: string): SwarmError {
  return new SwarmError(
    "CONVERSATION_NOT_FOUND",
    `Cannot read the conversation: you do not have a conversation ${id}`,
  );
}

function messageNotFound(id: string | null): SwarmError {
  return new SwarmError(
    "MESSAGE_NOT_FOUND",
    `Cannot read the messages before ${id}: the conversation has no such message`,
    { hint: "Send the id of the last message on the previous page, or omit before." },
  );
}
