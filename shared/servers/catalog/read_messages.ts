import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { TransactionSql } from "../../vendor/postgres.js";
import { z } from "../../vendor/zod.js";
import { messageRole } from "./add_message.ts";

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
  has_cursor: z.boolean(),
  messages: z.array(storedMessage),
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
 * @throws SwarmError `CONVERSATION_NOT_FOUND`, `MESSAGE_NOT_FOUND` for an unknown message id.
 */
export async function readMessages(
  sql: TransactionSql,
  { conversationId, limit, before }: MessageRange,
): Promise<StoredConversation> {
  const [row] = await sql`
    with cursor as (
      select seq from public.messages where id = ${before} and conversation_id = ${conversationId}
    )
    select jsonb_build_object(
      'id', conversation.id, 'title', conversation.title, 'created_at', conversation.created_at,
      'has_cursor', ${before}::uuid is null or exists (select from cursor),
      'messages', coalesce((
        select jsonb_agg(jsonb_build_object(
          'id', page.id, 'role', page.role, 'content', page.content,
          'client_message_id', page.client_message_id, 'created_at', page.created_at
        ) order by page.seq desc)
        from (
          select message.*
          from public.messages as message
          where message.conversation_id = conversation.id
            and (${before}::uuid is null or message.seq < (select seq from cursor))
          order by message.seq desc
          limit ${limit}
        ) as page
      ), '[]')
    ) as conversation
    from public.conversations as conversation
    where conversation.id = ${conversationId}`;
  if (row === undefined) throw conversationNotFound(conversationId);
  const conversation = storedConversation.parse(row.conversation);
  if (!conversation.has_cursor) throw messageNotFound(before);
  return conversation;
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
