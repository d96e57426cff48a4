import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { printFigures } from "./race_fixture.ts";
import { type NativeServer, startMigratedServer, type Transaction } from "./native_server.ts";

const EMBEDDER = "clusters@1";
/**
 * Chunks of each project, ten to a document. Only more than 20,000 are searched by the index of
 * vectors, whose creation takes most of the time of this test.
 */
const SIZES = { large: 20_500, middle: 2_300, small: 1_000 };
const QUERIES = 20;
const WORDS = "everywhere half w12 rare17";

Deno.test("a search of a large project uses the indexes with high recall", async (t) => {
  await using server = await startMigratedServer();
  const { admin, sql } = server;
  await fill(admin);

  for (const statistics of ["no", "fresh"]) {
    if (statistics === "fresh") await admin`vacuum analyze`;
    await t.step(`with ${statistics} statistics no search reads a whole table`, async () => {
      for (const { what, indexes, search } of SEARCHES) {
        const plans = await plansOf(server, search);

        assert.doesNotMatch(
          plans,
          /Seq Scan on (document_embeddings|chunk_vectors|documents) /,
          what,
        );
        for (const index of indexes) {
          assert.ok(plans.includes(index), `${what}: no ${index}`);
        }
      }
    });
  }

  await t.step("a search returns as many results as requested", async () => {
    for (const slug of Object.keys(SIZES)) {
      for (const count of [1, 10, 200, 1000]) {
        assert.equal((await nearest(sql, slug, 1, count)).length, count, `${count} of ${slug}`);
      }
    }
    const [below] = await sql`
      select count(*)::int as found, bool_and(starts_with(file_path, 'part-3/')) as are_below
      from quoth_test.search('large', 1, 'part-3/', 200)`;
    assert.deepEqual({ ...below }, { found: 200, are_below: true });
  });

  await t.step("a search finds 95 percent of the nearest ten", async () => {
    const recalls: Record<string, number> = {};
    for (const slug of Object.keys(SIZES)) {
      let found = 0;
      for (let query = 1; query <= QUERIES; query++) {
        const exact = new Set(await nearestByScan(sql, slug, query));
        found += (await nearest(sql, slug, query, 10)).filter((id) => exact.has(id)).length;
      }
      recalls[`${slug}_recall10`] = found / (10 * QUERIES);
    }
    printFigures(recalls);

    assert.equal(recalls.small_recall10, 1, "every chunk of a small project is compared");
    assert.equal(recalls.middle_recall10, 1, "and of one that is a tenth of the table");
    assert.ok(Object.values(recalls).every((recall) => recall >= 0.95), "the recall is too low");
  });
});

const WORDS_INDEX = "document_embeddings_words_idx";
const VECTOR_INDEX = "document_embeddings_embedding_idx";
/** For the vectors that are all compared. */
const COMPARED_INDEX = "chunk_vectors_project_id_idx";

type Search = (tx: Transaction) => Promise<unknown>;

/** Searches, and the indexes that must serve each. */
const SEARCHES: readonly {
  readonly what: string;
  readonly indexes: readonly (typeof WORDS_INDEX | typeof VECTOR_INDEX | typeof COMPARED_INDEX)[];
  readonly search: Search;
}[] = [
  {
    what: "by full text and vectors",
    indexes: [WORDS_INDEX, VECTOR_INDEX],
    search: (tx) => tx`select * from quoth_test.search('large', 1, null, 200)`,
  },
  {
    what: "below a path",
    indexes: [WORDS_INDEX, COMPARED_INDEX],
    search: (tx) => tx`select * from quoth_test.search('large', 1, 'part-3/')`,
  },
  {
    what: "in a project that is a tenth",
    indexes: [WORDS_INDEX, COMPARED_INDEX],
    search: (tx) => tx`select * from quoth_test.search('middle', 1)`,
  },
  {
    what: "in a small project",
    indexes: [WORDS_INDEX, COMPARED_INDEX],
    search: (tx) => tx`select * from quoth_test.search('small', 1)`,
  },
  {
    what: "by words",
    indexes: [WORDS_INDEX],
    search: (tx) =>
      tx`
      select found.* from public.projects as project,
        public.search_documents(project.id, ${WORDS}, p_limit => 200) as found
      where project.slug = 'large'`,
  },
  {
    what: "by meaning",
    indexes: [VECTOR_INDEX],
    search: (tx) => tx`select * from quoth_test.nearest('large', 1, 10)`,
  },
];

/** The plans of a search and of every statement inside it, from the server's log. */
async function plansOf({ admin }: NativeServer, search: Search): Promise<string> {
  const mark = crypto.randomUUID();
  await admin.begin(async (tx) => {
    await tx`load 'auto_explain'`;
    await tx`select set_config('auto_explain.log_min_duration', '0', true),
      set_config('auto_explain.log_nested_statements', 'on', true)`;
    await tx.unsafe(`select '${mark}'`);
    await search(tx);
    await tx.unsafe(`select '${mark}'`);
  });
  const [row] = await admin`
    select split_part(log, ${mark}, 2) as plans from pg_read_file('../postgres.log') as log`;
  return String(row?.plans);
}

async function nearest(sql: Sql, slug: string, query: number, count: number): Promise<string[]> {
  const rows = await sql`select id from quoth_test.nearest(${slug}, ${query}::int, ${count}::int)`;
  return rows.map(({ id }) => String(id));
}

async function nearestByScan(sql: Sql, slug: string, query: number): Promise<string[]> {
  const rows = await sql`
    select found.id
    from public.projects as project,
      lateral (
        select chunk.id from public.document_embeddings as chunk
        where chunk.project_id = project.id
        -- Plus zero disables the index, so every chunk is compared; as a subquery, the vector is
        -- computed once and not for every chunk.
        order by
          (chunk.embedding operator(extensions.<=>) (select quoth_test.query_vector(${query}::int))) + 0,
          chunk.id
        limit 10
      ) as found
    where project.slug = ${slug}`;
  return rows.map(({ id }) => String(id));
}

/**
 * Fills the projects, all in one table: a vector is one of 1,000 points and a nearby one of
 * 1,000 others, so that they form clusters; words are in all chunks, in half of them, or in few.
 */
async function fill(admin: Sql): Promise<void> {
  await admin.begin(async (tx) => {
    await tx.unsafe(FIXTURE).simple();
    const [index] = await tx`
      select pg_get_indexdef('public.document_embeddings_embedding_idx'::regclass) as definition`;
    // Inserting vectors one by one would take minutes, and so would row triggers.
    await tx`drop index public.document_embeddings_embedding_idx`;
    await tx`set local session_replication_role = replica`;
    await tx`alter table public.document_embeddings set (autovacuum_enabled = false)`;
    await tx`set local maintenance_work_mem = '512MB'`;
    await tx`
      insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items)
      values (${EMBEDDER}, 'openai', 'm', 768, 480, 16)`;
    for (const [slug, size] of Object.entries(SIZES)) await fillProject(tx, slug, size);
    await tx`
      insert into private.chunk_vectors (chunk_id, project_id, document_id, embedder, embedding)
      select id, project_id, document_id, embedder, embedding from public.document_embeddings`;
    await tx.unsafe(String(index?.definition));
  });
}

async function fillProject(tx: Transaction, slug: string, size: number): Promise<void> {
  await tx`
    insert into public.projects (slug, github_repo, embedder)
    values (${slug}, 'acme/docs', ${EMBEDDER})`;
  await tx`
    insert into public.documents (project_id, file_path, title, content, checksum)
    select project.id, format('part-%s/page-%s.md', n % 8, n), 'A page', '', ''
    from public.projects as project, generate_series(1, ${size / 10}::int) as n
    where project.slug = ${slug}`;
  await tx`
    with chunk as materialized (
      select document.id as document_id, document.project_id, n,
        'everywhere ' || case n % 2 when 0 then 'half ' else '' end
          || format('w%s rare%s', floor(random() * 500), floor(random() * 5000)) as content,
        1 + floor(random() * 1000)::int as far, 1 + floor(random() * 1000)::int as near
      from public.projects as project
      join public.documents as document on document.project_id = project.id
      cross join generate_series(0, 9) as n
      where project.slug = ${slug}
    )
    insert into public.document_embeddings
      (document_id, project_id, content_chunk, embedding, chunk_index, chunk_hash, token_count, embedder, fts)
    select chunk.document_id, chunk.project_id, chunk.content,
      cluster.far operator(extensions.+) place.near, chunk.n,
      gen_random_uuid(), 10, ${EMBEDDER}, to_tsvector('simple', chunk.content)
    from chunk
    join quoth_test.points as cluster on cluster.n = chunk.far
    join quoth_test.points as place on place.n = chunk.near`;
}

const FIXTURE = `
  create schema quoth_test;
  select setseed(0.5);
  create table quoth_test.points as
    select n, (
        select array_agg(random() - 0.5) from generate_series(1, 768) where n > 0
      )::extensions.vector(768) as far, (
        select array_agg(0.6 * (random() - 0.5)) from generate_series(1, 768) where n > 0
      )::extensions.vector(768) as near
    from generate_series(1, 1000) as n;
  create function quoth_test.query_vector(p_query int) returns extensions.vector
  stable language sql as $$
    select cluster.far operator(extensions.+) place.near
    from quoth_test.points as cluster, quoth_test.points as place
    where cluster.n = p_query and place.n = 1000 - p_query;
  $$;
  create function quoth_test.search(p_slug text, p_query int, p_prefix text default null, p_limit int default 20)
  returns table (file_path text) stable language sql as $$
    select found.file_path
    from public.projects as project, public.search_documents(
      project.id, '${WORDS}', quoth_test.query_vector(p_query), '${EMBEDDER}', p_limit, p_prefix) as found
    where project.slug = p_slug;
  $$;
  create function quoth_test.nearest(p_slug text, p_query int, p_count int)
  returns table (id uuid) stable language sql as $$
    select found.id
    from public.projects as project,
      public.match_documents(quoth_test.query_vector(p_query), null, p_count, project.id) as found
    where project.slug = p_slug;
  $$;
  grant usage on schema quoth_test to postgres;
  grant select on quoth_test.points to postgres;
`;
