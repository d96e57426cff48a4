import { hashWords } from "../../shared/servers/quoth/embedders/lexical_hash.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { writeProgress } from "../../scripts/terminal.ts";
import { type BenchResult, judge, percentile, rounded } from "./bench_result.ts";
import { fillProjects } from "./quoth/large_projects.ts";
import { readReferenceQueries } from "./quoth/reference_queries.ts";
import { mean } from "./quoth/score_ranking.ts";
import { openQueueDatabase } from "./queue_database.ts";
import { mediansOf, ratioIn, runRounds, spreadIn } from "./rounds.ts";
import { privateMemoryMib } from "./process_memory.ts";
import { requireSessions, serverVersion } from "./server_version.ts";

/** Numbers of chunks of the searched projects. */
const SMALL = 1_000;
const MIDDLE = 10_000;
const LARGE = 50_000;
const SIZES = [SMALL, MIDDLE, LARGE];
/** Chunks of a project in the same table that is not searched. */
const BYSTANDERS = 50_000;
const EMBEDDER = "hash768@1";
const ROUNDS = 3;
/** Uses every n-th reference query. */
const QUERY_STEP = 8;
/** The recall of an index is measured on this many hits. */
const TOP = 10;

interface Query {
  readonly text: string;
  /** The vector in Postgres syntax. */
  readonly vector: string;
}

type Search = (sql: Sql, projectId: string, query: Query) => Promise<readonly { id?: unknown }[]>;

/** The measured searches. */
const SEARCHES = {
  hybrid: (sql, projectId, { text, vector }) =>
    sql`
    select id from public.search_documents(
      p_project_id => ${projectId}::uuid,
      p_query => ${text},
      p_query_embedding => ${vector}::text::extensions.vector,
      p_embedder => ${EMBEDDER},
      p_limit => 20
    )`,
  words: (sql, projectId, { text }) =>
    sql`
    select id from public.search_documents(
      p_project_id => ${projectId}::uuid,
      p_query => ${text},
      p_limit => ${TOP}::int
    )`,
  vectors: (sql, projectId, { vector }) =>
    sql`
    select id from public.match_documents(
      query_embedding => ${vector}::text::extensions.vector,
      match_threshold => null,
      match_count => ${TOP}::int,
      filter_project_id => ${projectId}::uuid
    )`,
} satisfies Record<string, Search>;

/**
 * Searches that use only the indexes. For words: the candidates before documents are considered.
 */
const INDEX_SEARCHES = {
  words: (sql, projectId, { text }) =>
    sql`
    select chunk.id
    from (
      select array_agg(term.words order by term.place) as words
      from private.query_terms('english', ${text}) with ordinality as term (term, words, place)
    ) as query
    cross join lateral private.worded_chunks(
      p_project_id => ${projectId}::uuid,
      p_embedder => ${EMBEDDER},
      p_words => query.words,
      p_limit => ${TOP}::int
    ) as chunk`,
  vectors: SEARCHES.vectors,
} satisfies Record<string, Search>;

/** The same searches without the indexes, which compare every chunk. */
const EXACT_SEARCHES: Readonly<Record<keyof typeof INDEX_SEARCHES, Search>> = {
  words: (sql, projectId, { text }) =>
    sql`
    select chunk.id
    from (
      select private.any_of(array_agg(term.words)) as words
      from private.query_terms('english', ${text}) as term
    ) as query
    join public.document_embeddings as chunk
      on chunk.project_id = ${projectId}::uuid and chunk.fts @@ query.words
    order by ts_rank(private.text_weights(), chunk.fts, query.words, 1) desc, chunk.id
    limit ${TOP}`,
  vectors: (sql, projectId, { vector }) =>
    sql`
    select id from public.document_embeddings
    where project_id = ${projectId}::uuid and embedder = ${EMBEDDER} and embedding is not null
    -- Plus zero: the index cannot give this order, so every chunk is compared.
    order by (embedding operator(extensions.<=>) ${vector}::text::extensions.vector) + 0, id
    limit ${TOP}`,
};

/**
 * Search at scale: the time of a search in projects of 1,000, 10,000 and 50,000 chunks that share a
 * table with 50,000 chunks of another, and the recall of the indexes.
 *
 * @param db `native` or a URL of an empty server.
 */
export async function benchQuothSearch(db: string): Promise<BenchResult> {
  requireSessions("quoth_search", db);
  const reference = await readReferenceQueries();
  if (reference === null) {
    throw new Error("Cannot run the benchmark: the folder ../shared/data/quoth is missing");
  }
  const queries = reference.queries.filter((_, place) => place % QUERY_STEP === 0)
    .map(({ query }): Query => ({ text: query, vector: `[${hashWords(query, 768).join(",")}]` }));
  await using database = await openQueueDatabase(db);
  const { sql } = database;
  const { projectIds, indexSeconds } = await fillProjects(sql, {
    files: reference.files,
    sizes: [...SIZES, BYSTANDERS],
    embedder: EMBEDDER,
  });
  const projects = SIZES.map((size, place) => ({ size, projectId: projectIds[place] ?? "" }));

  const systems = projects.map(({ size, projectId }) =>
    [`${size}`, () => timeSearches(sql, projectId, queries)] as const
  );
  const rounds = await runRounds(Object.fromEntries(systems), {
    bench: "quoth_search",
    count: ROUNDS,
  });
  const names = Object.keys(SEARCHES).flatMap((search) => [`${search}_p50_ms`, `${search}_p95_ms`]);
  const spreads = {
    hybrid_p95_to_small: ratioIn(rounds, "hybrid_p95_ms", `${LARGE}`, `${SMALL}`),
    ...Object.fromEntries(
      SIZES.flatMap((size) =>
        names.map((name) => [`${name}_at_${size}`, spreadIn(rounds, `${size}`, name)])
      ),
    ),
  };
  const figures: Record<string, number> = { queries: queries.length, ...mediansOf(spreads) };
  for (const { size, projectId } of projects) {
    for (const name of ["words", "vectors"] as const) {
      writeProgress(`quoth_search: what ${name} miss of ${size}`);
      figures[`${name}_recall10_at_${size}`] = await measureRecall(sql, name, projectId, queries);
    }
  }
  return judge(
    "quoth_search",
    {
      ...figures,
      index_s: rounded(indexSeconds),
      ...await sizes(sql),
      ...await sessionMemory(sql),
    },
    {
      hybrid_p95_to_small: { max: 8 },
      [`hybrid_p50_ms_at_${MIDDLE}`]: { max: 40 },
      ...Object.fromEntries(SIZES.flatMap((size) => [
        [`vectors_recall10_at_${size}`, { min: size === SMALL ? 1 : 0.95 }],
        [`words_recall10_at_${size}`, { min: size === SMALL ? 1 : 0.95 }],
      ])),
    },
    {
      spreads,
      versions: await serverVersion(sql),
      notes: [
        "All projects are in one table, with 50,000 chunks of another project. A chunk consists of halves of two real chunks, and its vector is a hash of its words; the queries are real.",
        "hybrid is search_documents() with a vector, words is search_documents() without one, vectors is match_documents(). Each is one round trip, without embedding the query.",
        "`recall10`: how many of the ten best chunks, found by comparing every chunk, are among the ten that the index finds. `index_s` is the time to rebuild the vector index with 1 GB of memory. `session_mib` is the private memory of a session after all of this.",
        "The server's settings are its defaults: 128 MB of the indexes are in its own memory, the rest in the system's cache.",
      ],
    },
  );
}

/** Measures the milliseconds of each kind of search for every query, after a warm-up. */
async function timeSearches(sql: Sql, projectId: string, queries: readonly Query[]) {
  const figures: Record<string, number> = {};
  for (const [name, search] of Object.entries(SEARCHES)) {
    for (const query of queries.slice(0, TOP)) await search(sql, projectId, query);
    const durationsMs: number[] = [];
    for (const query of queries) {
      const startedAt = performance.now();
      await search(sql, projectId, query);
      durationsMs.push(performance.now() - startedAt);
    }
    figures[`${name}_p50_ms`] = percentile(durationsMs, 0.5);
    figures[`${name}_p95_ms`] = percentile(durationsMs, 0.95);
  }
  return figures;
}

async function measureRecall(
  sql: Sql,
  name: keyof typeof INDEX_SEARCHES,
  projectId: string,
  queries: readonly Query[],
): Promise<number> {
  const recalls: number[] = [];
  for (const query of queries) {
    const found = new Set((await INDEX_SEARCHES[name](sql, projectId, query)).map(({ id }) => id));
    const exact = await EXACT_SEARCHES[name](sql, projectId, query);
    if (exact.length > 0) {
      recalls.push(exact.filter(({ id }) => found.has(id)).length / exact.length);
    }
  }
  return rounded(mean(recalls));
}

/** Returns the largest memory of the sessions, or nothing if the server is on another machine. */
async function sessionMemory(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql`select pid from pg_stat_activity where application_name = 'bench'`;
  const sessions = await Promise.all(rows.map(({ pid }) => privateMemoryMib(Number(pid))));
  const known = sessions.filter((mib) => mib !== null);
  return known.length === 0 ? {} : { session_mib: Math.max(...known) };
}

/** Returns the sizes on disk in megabytes. */
async function sizes(sql: Sql): Promise<Record<string, number>> {
  const [row] = await sql`
    select pg_table_size('public.document_embeddings')::float8 / 1048576 as table_mib,
      pg_table_size('private.chunk_vectors')::float8 / 1048576 as compared_vectors_mib,
      pg_relation_size('public.document_embeddings_embedding_idx')::float8 / 1048576 as vector_index_mib,
      pg_relation_size('public.document_embeddings_words_idx')::float8 / 1048576 as word_index_mib`;
  return Object.fromEntries(
    Object.entries({ ...row }).map(([name, value]) => [name, Math.round(Number(value))]),
  );
}
