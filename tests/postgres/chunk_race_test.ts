import assert from "node:assert/strict";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { hashWords } from "../../shared/servers/quoth/embedders/lexical_hash.ts";
import { startMigratedServer } from "./native_server.ts";
import { seededRandom } from "../../scripts/seeded_random.ts";
import { assertNoDeadlock, shuffled } from "./race_fixture.ts";

const EMBEDDER = "hash768@1";
const ROUNDS = 60;
const CHUNKS = 24;
const VECTOR = hashWords("text", 768);

Deno.test("a document that changes while its vectors arrive has all of them", async () => {
  await using server = await startMigratedServer();
  const sql = createSql(server.cluster.url, { maxConnections: 4, applicationName: "racers" });
  const random = seededRandom(5);
  const [project] = await sql`
    insert into public.projects (slug, github_repo, embedder) values ('p', 'acme/p', ${EMBEDDER})
    returning id`;
  const projectId = String(project?.id);

  for (let round = 0; round < ROUNDS; round++) {
    const hashes = Array.from({ length: CHUNKS }, (_, place) => `${round}-${place}`);
    await replaceDocument(sql, projectId, hashes);
    const kept = shuffled(hashes, random).slice(CHUNKS / 2);

    await Promise.all([
      storeVectors(sql, projectId, shuffled(hashes, random)),
      replaceDocument(sql, projectId, kept),
      storeVectors(sql, projectId, shuffled(hashes, random)),
    ]);

    const [left] = await sql`
      select count(*) filter (where embedding is null)::int as pending, count(*)::int as chunks,
        (select count(*)::int from private.pending_embeddings) as waiting
      from public.document_embeddings`;
    assert.deepEqual({ ...left }, { pending: 0, chunks: kept.length, waiting: 0 });
  }
  await assertNoDeadlock(server);
  await sql.end();
});

async function replaceDocument(sql: Sql, projectId: string, hashes: readonly string[]) {
  const document = { file_path: "a.md", title: "A", content: hashes.join("\n"), checksum: "c" };
  const chunks = hashes.map((hash, place) => ({
    content: hash,
    embedded_text: hash,
    chunk_hash: hash,
    start_line: place + 1,
    end_line: place + 1,
  }));
  await sql`
    select private.replace_document(
      ${projectId}::uuid, ${sql.json(document)}, ${EMBEDDER}, ${sql.json(chunks)})`;
}

async function storeVectors(sql: Sql, projectId: string, hashes: readonly string[]) {
  const vectors = hashes.map((hash) => ({ chunk_hash: hash, embedding: VECTOR }));
  await sql`
    select private.record_embeddings(${projectId}::uuid, ${EMBEDDER}, ${sql.json(vectors)})`;
}
