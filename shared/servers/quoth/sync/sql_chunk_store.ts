import { z } from "../../../vendor/zod.js";
import type { Sql } from "../../../platform/db/sql_client.ts";
import { jsonValue } from "../../../platform/values/json_schema.ts";
import { toStorableJson } from "../../../platform/values/storable_json.ts";
import { createQueryRunner } from "../../../platform/isolate/query_runner.ts";
import type { ChunkStore } from "./chunk_store.ts";
import type { SqlSyncOptions } from "./sql_sync_store.ts";

const chunkRow = z.object({
  chunk_hash: z.string(),
  epoch: z.string(),
  title: z.string(),
  embedded_text: z.string(),
});
const documentRow = z.object({
  document_id: z.string(),
  embedder: z.string(),
  file_path: z.string(),
  content: z.string(),
  content_hash: z.string(),
});
const anyRow = z.unknown();

/** A claim lasts longer than the longest request to an embedder. */
const CLAIM_SECONDS = 120;

/** The chunk store over the functions of schema `private`. */
export function createSqlChunkStore(sql: Sql, options: SqlSyncOptions): ChunkStore {
  const { once, withRetries } = createQueryRunner(options);

  return {
    async claim({ projectId, embedder }, limit) {
      const rows = await once("claim chunks", chunkRow, () =>
        sql`
        select chunk_hash, epoch, title, embedded_text
        from private.claim_chunks(
          p_project_id => ${projectId}::uuid,
          p_embedder => ${embedder},
          p_limit => ${limit}::int,
          p_lease_seconds => ${CLAIM_SECONDS}::int
        )`);
      return rows.map((row) => ({
        chunkHash: row.chunk_hash,
        epoch: row.epoch,
        title: row.title,
        text: row.embedded_text,
      }));
    },

    async put({ projectId, embedder }, vectors) {
      if (vectors.length === 0) return;
      const rows = vectors.map(({ chunkHash, embedding }) => ({
        chunk_hash: chunkHash,
        embedding,
      }));
      await withRetries("store vectors", anyRow, () =>
        sql`
        select private.record_embeddings(
          p_project_id => ${projectId}::uuid,
          p_embedder => ${embedder},
          p_embeddings => ${sql.json(rows)}
        )`);
    },

    async giveBack({ projectId, embedder }, claims, error) {
      if (claims.length === 0) return;
      const rows = claims.map(({ chunkHash, epoch }) => ({ chunk_hash: chunkHash, epoch }));
      await withRetries("return chunks", anyRow, () =>
        sql`
        select private.return_chunks(
          p_project_id => ${projectId}::uuid,
          p_embedder => ${embedder},
          p_claims => ${sql.json(rows)},
          p_error => ${error === null ? null : json(error)}::jsonb
        )`);
    },

    async count({ syncId, epoch }, embeddedCount) {
      await withRetries("count vectors", anyRow, () =>
        sql`
        select private.count_embedded(
          p_sync_id => ${syncId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${options.leaseSeconds}::int,
          p_count => ${embeddedCount}::int
        )`);
    },

    async documentsToChunk(projectId, limit) {
      const rows = await withRetries("list documents to split", documentRow, () =>
        sql`
        select document_id, embedder, file_path, content, content_hash
        from private.documents_to_chunk(${projectId}::uuid, ${limit}::int)`);
      return rows.map((row) => ({
        documentId: row.document_id,
        embedder: row.embedder,
        filePath: row.file_path,
        content: row.content,
        contentHash: row.content_hash,
      }));
    },

    async addChunks({ syncId, epoch }, { documentId, contentHash, embedder }, chunks) {
      await withRetries("add chunks", anyRow, () =>
        sql`
        with added as materialized (
          select private.add_chunks(
            p_document_id => ${documentId}::uuid,
            p_content_hash => ${contentHash},
            p_embedder => ${embedder},
            p_chunks => ${json(chunks)}
          ) as counts
        )
        select counts, private.count_embedded(
          p_sync_id => ${syncId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${options.leaseSeconds}::int,
          p_count => 0
        )
        from added`);
    },
  };

  function json(value: unknown) {
    return sql.json(toStorableJson(jsonValue.parse(value)));
  }
}
