import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import { EMPTY_CONTEXT, type SqlContext } from "../sql/context/sql_context.ts";

const remark = z.object({ title: z.string(), text: z.string() });
const publishedSchema = z.object({
  version: z.int(),
  document: z.object({
    overview: z.string(),
    patterns: z.array(remark.extend({ sql: z.string() })),
    fixes: z.array(z.object({ title: z.string(), error: z.string(), fix: z.string() })),
    insights: z.array(remark),
    modelNotes: z.array(remark),
  }),
}).nullable();

/** The context of one version. */
export interface KnownContext {
  /** Null if none was published. */
  readonly version: number | null;
  readonly context: SqlContext;
}

/** The last context that this isolate read, per database. */
const lastRead = new WeakMap<Sql, KnownContext>();

/**
 * Returns the current context. It is read again only when its version changes; each call gets the
 * version with the SQL policy, which it reads anyway.
 */
export async function knowContext(sql: Sql, version: number | null): Promise<KnownContext> {
  if (version === null) return { version: null, context: EMPTY_CONTEXT };
  const known = lastRead.get(sql);
  if (known?.version === version) return known;
  const [row] = await sql`select private.read_sql_context() as published`;
  const published = publishedSchema.parse(row?.published ?? null);
  const read = {
    version: published?.version ?? null,
    context: published?.document ?? EMPTY_CONTEXT,
  };
  lastRead.set(sql, read);
  return read;
}
