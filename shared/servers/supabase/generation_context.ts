import type { JsonObject } from "../../platform/values/json.ts";
import {
  chooseContext,
  type ChosenContext,
  estimateContextTokens,
  fitsWhole,
} from "../sql/context/choose_context.ts";
import { enhancePrompt } from "../sql/context/enhance_prompt.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { orderTables } from "./order_tables.ts";
import type { SqlSettings } from "./sql_settings.ts";
import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import { EMPTY_CONTEXT, type SqlContext } from "../sql/context/sql_context.ts";
import { indexTables, type TableIndex } from "../sql/linking/rank_tables.ts";
import { toLinkable } from "../sql/linking/to_linkable.ts";
import { knowSchema } from "./schema_cache.ts";

/** The prompt for a question, and its description in `_meta`. */
export interface GenerationPrompt {
  readonly text: string;
  readonly meta: JsonObject;
}

/** Builds the prompt: the question with the database's schema and the learned context. */
export async function contextualPrompt(
  question: string,
  context: ToolContext,
  settings: SqlSettings,
): Promise<GenerationPrompt> {
  const [{ index }, { version, context: learned }] = await Promise.all([
    knowTables(context, settings),
    knowContext(context.sql, settings.context_version),
  ]);
  const order = fitsWhole(index) ? null : await orderTables(question, index, context);
  const chosen = chooseContext(question, index, learned, order?.ranked);
  const text = enhancePrompt(question, chosen);
  const meta = { ...describe(chosen, version, text), embedder: order?.embedder ?? null };
  return { text, meta };
}

function describe(chosen: ChosenContext, version: number | null, text: string): JsonObject {
  const { tables, isWholeSchema, patterns, fixes, insights, modelNotes, leftOut } = chosen;
  return {
    version,
    prompt_tokens: estimateContextTokens(text),
    tables: [...tables],
    is_whole_schema: isWholeSchema,
    patterns: patterns.length,
    fixes: fixes.length,
    insights: insights.length,
    model_notes: modelNotes.length,
    left_out: { ...leftOut },
  };
}

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
interface KnownContext {
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
async function knowContext(sql: Sql, version: number | null): Promise<KnownContext> {
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

interface KnownTables {
  readonly catalogVersion: string;
  readonly index: TableIndex;
}

/** The last ranking data of this isolate, per database. */
const lastCounted = new WeakMap<Sql, KnownTables>();

/**
 * The tables that callers see, prepared for ranking. They are rebuilt after the catalogs change.
 */
async function knowTables(
  context: ToolContext,
  settings: SqlSettings,
): Promise<KnownTables> {
  const { schema, catalogVersion } = await knowSchema(context, settings);
  const known = lastCounted.get(context.sql);
  if (known?.catalogVersion === catalogVersion) return known;
  const counted = { catalogVersion, index: indexTables(toLinkable(schema)) };
  lastCounted.set(context.sql, counted);
  return counted;
}
