import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { writeProgress } from "../../../scripts/terminal.ts";
import type { ReferenceFile } from "../reference_files.ts";
import { type VariedChunk, varyChunks } from "./varied_chunks.ts";

const CHUNKS_OF_DOCUMENT = 6;
const CHUNKS_OF_BATCH = 50 * CHUNKS_OF_DOCUMENT;

/** Projects that share a table. */
export interface LargeProjects {
  readonly files: readonly ReferenceFile[];
  /** Number of chunks of each project. */
  readonly sizes: readonly number[];
  /** The embedder of the project, whose vectors are hashes of words. */
  readonly embedder: string;
}

/**
 * Fills projects with varied chunks, then builds the vector index, because adding vectors to an
 * existing index takes many times as long.
 *
 * @returns The projects' ids in the order of the sizes, and the time of the index build.
 */
export async function fillProjects(
  sql: Sql,
  { files, sizes, embedder }: LargeProjects,
): Promise<{ readonly projectIds: readonly string[]; readonly indexSeconds: number }> {
  const [index] = await sql`
    select pg_get_indexdef('public.document_embeddings_embedding_idx'::regclass) as definition`;
  await sql`drop index public.document_embeddings_embedding_idx`;
  const chunkOf = await varyChunks(files);
  const projectIds = await Promise.all(sizes.map(async (size, place) => {
    const [project] = await sql`
      insert into public.projects (slug, github_repo, embedder)
      values (${`project-${place}`}, 'denoland/docs', ${embedder})
      returning id`;
    const projectId = String(project?.id);
    const offset = sizes.slice(0, place).reduce((sum, other) => sum + other, 0);
    for (let done = 0; done < size; done += CHUNKS_OF_BATCH) {
      writeProgress(`quoth_search: ${done} of ${size} chunks`);
      const length = Math.min(CHUNKS_OF_BATCH, size - done);
      const chunks = Array.from({ length }, (_, n) => chunkOf(offset + done + n));
      await insertChunks(sql, projectId, done, chunks);
    }
    return projectId;
  }));
  writeProgress("quoth_search: the index by vectors");
  const startedAt = performance.now();
  await sql.begin(async (tx) => {
    await tx`set local maintenance_work_mem = '1GB'`;
    await tx.unsafe(String(index?.definition));
  });
  const indexSeconds = (performance.now() - startedAt) / 1000;
  await sql`vacuum analyze public.documents, public.document_embeddings, private.chunk_vectors`;
  return { projectIds, indexSeconds };
}

/** Inserts whole documents, except for the last one of a project. */
async function insertChunks(
  sql: Sql,
  projectId: string,
  done: number,
  chunks: readonly VariedChunk[],
): Promise<void> {
  const rows = chunks.map(({ title, headingPath, content, vector }, n) => {
    const page = Math.floor((done + n) / CHUNKS_OF_DOCUMENT);
    return {
      file_path: `part-${page % 20}/page-${page}.md`,
      title,
      heading_path: headingPath,
      content,
      embedding: `[${vector.join(",")}]`,
      chunk_index: n % CHUNKS_OF_DOCUMENT,
    };
  });
  const pages = rows.filter(({ chunk_index }) => chunk_index === 0)
    .map(({ file_path, title }) => ({ file_path, title }));
  await sql`
    insert into public.documents (project_id, file_path, title, content, checksum)
    select ${projectId}::uuid, page.file_path, page.title, '', ''
    from jsonb_to_recordset(${sql.json(pages)}) as page (file_path text, title text)`;
  await sql`
    insert into public.document_embeddings
      (document_id, content_chunk, heading_path, embedding, chunk_index)
    select document.id, chunk.content, chunk.heading_path,
      chunk.embedding::extensions.vector, chunk.chunk_index
    from jsonb_to_recordset(${sql.json(rows)}) as chunk (
      file_path text, heading_path text[], content text, embedding text, chunk_index int
    )
    join public.documents as document
      on document.project_id = ${projectId}::uuid and document.file_path = chunk.file_path`;
}
