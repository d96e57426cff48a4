import { z } from "../../vendor/zod.js";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { createEmbedderResolver } from "../quoth/embedders/resolve_embedder.ts";
import { describeTable, nameOf } from "../sql/linking/compact_schema.ts";
import { type RankedTable, rankTables, type TableIndex } from "../sql/linking/rank_tables.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { sha256Hex } from "../../platform/values/sha256_hex.ts";

/** Time limit for the embedder; afterwards, the order by words is used, because a caller waits. */
const EMBEDDER_TIMEOUT_MS = 5_000;
/** Maximum number of tables that are embedded in one call, beginning with the best by words. */
const MAX_NEW_VECTORS = 64;
/** Maximum number of tables that similarity of meaning moves forward. */
const NEAREST_TABLES = 40;
/** Maximum number of embedded characters of a table's description. */
const MAX_TEXT_CHARACTERS = 2_000;

/** The order of tables for a question. */
export interface TableOrder {
  readonly ranked: readonly RankedTable[];
  /** The embedder whose vectors were used; null if only words were used. */
  readonly embedder: string | null;
}

type Ports = Pick<ToolContext, "sql" | "fetch" | "signal" | "usedModel" | "log">;

/**
 * Orders the tables by words and, if the project has an embedder with an API, also by meaning.
 * Vectors are stored by the hash of a table's description, and each call computes a few missing
 * ones. A failure of the embedder is not an error, because the order by words already includes
 * every table.
 */
export async function orderTables(
  question: string,
  index: TableIndex,
  context: Ports,
): Promise<TableOrder> {
  const ranked = rankTables(question, index);
  const embedder = await findEmbedder(context);
  if (embedder === null) return { ranked, embedder: null };
  try {
    const byMeaning = await nearestTables(question, index, { ranked, embedder, context });
    return { ranked: fuseRanks(ranked, byMeaning), embedder };
  } catch (error) {
    context.signal.throwIfAborted();
    const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
    if (!isTimeout && !(error instanceof SwarmError && error.code.startsWith("EMBEDDER_"))) {
      throw error;
    }
    context.log("warn", "sql.tables_not_embedded", { embedder, error: String(error) });
    return { ranked, embedder: null };
  }
}

/** The default embedder, unless it only counts words or runs in this process, which is slow. */
async function findEmbedder({ sql }: Ports): Promise<string | null> {
  const [row] = await sql<{ name: string }[]>`
    select name from public.embedders
    where name = private.default_embedder() and api in ('google', 'openai')`;
  return row?.name ?? null;
}

interface Ranking {
  readonly ranked: readonly RankedTable[];
  readonly embedder: string;
  readonly context: Ports;
}

async function nearestTables(
  question: string,
  { tables }: TableIndex,
  { ranked, embedder, context }: Ranking,
): Promise<number[]> {
  const { sql, fetch, usedModel } = context;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(EMBEDDER_TIMEOUT_MS)]);
  const resolve = createEmbedderResolver(sql, {
    transport: { fetch, nowMs: Date.now, requestTimeoutMs: EMBEDDER_TIMEOUT_MS },
    onUsage: (usage) => usedModel({ ...usage, keySource: "organisation", outputTokens: 0 }),
  });
  const { metered } = await resolve(embedder);
  const texts = tables.map((table) => describeTable(table, tables).slice(0, MAX_TEXT_CHARACTERS));
  const hashes = texts.map(sha256Hex);
  const missing = await missingHashes(context, embedder, hashes);
  const wanted = ranked.map(({ index }) => index)
    .filter((index) => missing.has(hashes[index] ?? ""))
    .slice(0, MAX_NEW_VECTORS);
  const { vectors } = await metered.embedPart(
    wanted.map((index) => ({ title: nameOf(tables[index]), text: texts[index] ?? "" })),
    signal,
  );
  await keepVectors(context, embedder, {
    hashes,
    made: vectors.map((vector, place) => ({ hash: hashes[wanted[place] ?? -1] ?? "", vector })),
  });
  const query = await metered.embedQuery(question, signal);
  const nearest = await sql<{ hash: string }[]>`
    select encode(text_hash, 'hex') as hash
    from private.table_vectors
    where embedder = ${embedder}
    order by embedding operator(extensions.<=>) ${JSON.stringify(query)}::extensions.vector
    limit ${NEAREST_TABLES}`;
  const places = new Map(hashes.map((hash, place) => [hash, place]));
  return nearest.flatMap(({ hash }) => places.get(hash) ?? []);
}

async function missingHashes(
  { sql }: Ports,
  embedder: string,
  hashes: readonly string[],
): Promise<Set<string>> {
  const rows = await sql`
    select wanted as hash
    from jsonb_array_elements_text(${sql.json([...hashes])}) as wanted
    where not exists (
      select from private.table_vectors
      where embedder = ${embedder} and text_hash = decode(wanted, 'hex')
    )`;
  return new Set(z.array(z.object({ hash: z.string() })).parse([...rows]).map(({ hash }) => hash));
}

/** Stores new vectors, and deletes those of descriptions that no longer exist. */
async function keepVectors(
  { sql }: Ports,
  embedder: string,
  { hashes, made }: {
    readonly hashes: readonly string[];
    readonly made: readonly { readonly hash: string; readonly vector: readonly number[] }[];
  },
): Promise<void> {
  if (made.length === 0) return;
  const rows = made.map(({ hash, vector }) => ({ hash, vector: JSON.stringify(vector) }));
  await sql`
    with gone as (
      delete from private.table_vectors
      where embedder = ${embedder}
        and not ${sql.json([...hashes])}::jsonb ? encode(text_hash, 'hex')
    )
    insert into private.table_vectors (embedder, text_hash, embedding)
    select ${embedder}, decode(made.hash, 'hex'), made.vector::extensions.vector
    from jsonb_to_recordset(${sql.json(rows)}) as made (hash text, vector text)
    on conflict do nothing`;
}

/**
 * The constant of reciprocal rank fusion. The larger it is, the less the first places differ from
 * later ones.
 */
const RANK_OFFSET = 60;
/** Weight of meaning relative to words, which are more precise when they match. */
const MEANING_WEIGHT = 0.5;

/**
 * Combines the orders by words and by meaning. A table that only one of them contains ranks after
 * tables at the same place that both contain.
 *
 * @param byMeaning Indexes of tables, the nearest first; tables may be missing.
 */
export function fuseRanks(
  byWords: readonly RankedTable[],
  byMeaning: readonly number[],
): RankedTable[] {
  const meaningPlaces = new Map(byMeaning.map((index, place) => [index, place]));
  return byWords
    .map(({ index, score }, place) => {
      const meaningPlace = meaningPlaces.get(index);
      const words = score > 0 ? 1 / (RANK_OFFSET + place) : 0;
      const meaning = meaningPlace === undefined
        ? 0
        : MEANING_WEIGHT / (RANK_OFFSET + meaningPlace);
      return { index, score: words + meaning };
    })
    .sort((a, b) => b.score - a.score || a.index - b.index);
}
