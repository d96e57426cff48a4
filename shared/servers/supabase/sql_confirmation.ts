import { randomBytes } from "node:crypto";
import type { TransactionSql } from "../../vendor/postgres.js";
import type { JsonValue } from "../../platform/values/json.ts";
import { sha256Hex } from "../../platform/values/sha256_hex.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { isByAgent } from "./agents_write.ts";
import { z } from "../../vendor/zod.js";

/** What a confirmation of a write is bound to, as hexadecimal digits. */
export interface WriteHashes {
  readonly tree_hash: string;
  readonly params_hash: string;
}

/** A write that a dry run showed to the caller. */
export interface ShownWrite extends WriteHashes {
  readonly statement_class: string;
  readonly statement: string;
  readonly tables: readonly string[];
  readonly estimated_rows: number | null;
  readonly max_rows: number;
  readonly needs_approval: boolean;
}

/** What the caller confirms a write with, once. */
export interface Confirmation {
  readonly confirmation_id: string;
  readonly confirmation_token: string;
  readonly expires_at: string;
}

const keptSchema = z.object({ id: z.string(), expires_at: z.string() });
const spentSchema = z.object({ id: z.string(), max_rows: z.int() });

/** Stores a write that the caller is about to see, and returns the token that runs it once. */
export async function createConfirmation(
  context: ToolContext,
  write: ShownWrite,
): Promise<Confirmation> {
  const { sql, caller } = context;
  const token = randomBytes(32).toString("base64url");
  context.keepFromLedger(token);
  const stored = {
    ...write,
    tables: [...write.tables],
    token_hash: sha256Hex(token),
    user_id: caller.userId,
    client_id: caller.clientId ?? "",
    is_agents: isByAgent(context),
  };
  const [row] = await sql`select private.offer_sql_confirmation(${sql.json(stored)}) as kept`;
  const { id, expires_at } = keptSchema.parse(row?.kept);
  return { confirmation_id: id, confirmation_token: token, expires_at };
}

/** A confirmed write. */
export interface ConfirmedWrite {
  readonly context: ToolContext;
  readonly token: string;
  readonly hashes: WriteHashes;
  /** A repeated call with the same key gets the stored answer. */
  readonly key: string;
}

/**
 * Uses the token in the transaction of the write, and stores the write's answer there: the token is
 * used if and only if the write committed.
 *
 * @throws SwarmError `CONFIRMATION_INVALID`, `APPROVAL_REQUIRED`
 */
export async function writeOnce<Answer extends object>(
  sql: TransactionSql,
  { context, token, hashes, key }: ConfirmedWrite,
  write: (maxRows: number, confirmationId: string) => Promise<Answer>,
): Promise<Answer> {
  const [row] = await sql`
    select private.spend_sql_confirmation(
      p_token_hash => ${sha256Hex(token)},
      p_client_id => ${context.caller.clientId ?? ""},
      p_tree_hash => ${hashes.tree_hash},
      p_params_hash => ${hashes.params_hash},
      p_idempotency_key => ${key}
    ) as spent`;
  const spent = spentSchema.parse(row?.spent);
  const answer = await write(spent.max_rows, spent.id);
  await sql`select private.record_sql_answer(${spent.id}, ${sql.json(answer as JsonValue)})`;
  return answer;
}

/** Runs a confirmed write, unless a call with the same key stored its answer before its worker died. */
export async function answerOnce<Answer extends object>(
  confirmed: ConfirmedWrite,
  schema: z.ZodType<Answer>,
  run: () => Promise<Answer>,
): Promise<Answer> {
  confirmed.context.keepFromLedger(confirmed.token);
  return await findEarlierAnswer(confirmed, schema) ?? await run();
}

async function findEarlierAnswer<Answer>(
  { context: { sql, caller }, hashes, key }: ConfirmedWrite,
  schema: z.ZodType<Answer>,
): Promise<Answer | null> {
  if (caller.userId === null) return null;
  const [row] = await sql`
    select private.find_sql_answer(
      p_user_id => ${caller.userId},
      p_idempotency_key => ${key},
      p_tree_hash => ${hashes.tree_hash},
      p_params_hash => ${hashes.params_hash}
    ) as answer`;
  return schema.nullable().parse(row?.answer ?? null);
}
