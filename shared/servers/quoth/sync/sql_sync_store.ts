import { z } from "../../../vendor/zod.js";
import { FUNCTION_NAMES } from "../../../platform/values/function_names.ts";
import { CLOSED_SETS } from "../../../platform/db/closed_sets.ts";
import type { Sql } from "../../../platform/db/sql_client.ts";
import { jsonValue } from "../../../platform/values/json_schema.ts";
import { toStorableJson } from "../../../platform/values/storable_json.ts";
import type { Clock } from "../../../platform/isolate/clock.ts";
import { createQueryRunner } from "../../../platform/isolate/query_runner.ts";
import { CHUNKER_VERSION } from "../markdown/split_markdown.ts";
import type { FileOutcome, SyncStore } from "./sync_store.ts";

/** Lease and retry options of the stores of a sync's worker. */
export interface SqlSyncOptions {
  /** Seconds that each write renews the lease by. */
  readonly leaseSeconds: number;
  readonly clock: Clock;
}

const target = z.object({ name: z.string(), window_tokens: z.int(), runs_here: z.boolean() })
  .transform(({ name, window_tokens, runs_here }) => ({
    name,
    windowTokens: window_tokens,
    runsHere: runs_here,
  }));
const context = z.object({
  kind: z.enum(CLOSED_SETS.quoth_syncs.kind),
  reason: z.enum(CLOSED_SETS.quoth_syncs.reason),
  commit_sha: z.string().nullable(),
  project: z.object({
    id: z.string(),
    github_repo: z.string().nullable(),
    default_branch: z.string(),
    include_globs: z.array(z.string()),
    indexed_commit: z.string().nullable(),
    head_commit: z.string().nullable(),
    chunker_version: z.int().nullable(),
    lacks_files: z.boolean(),
    embedder: target.nullable(),
    next_embedder: target.nullable(),
  }),
});
const claimedRow = z.object({ sync_id: z.string(), epoch: z.string(), context });
const leaseRow = z.object({ id: z.string(), epoch: z.string(), is_held: z.boolean() });
const countRow = z.object({ count: z.int() });
const fileRow = z.object({
  seq: z.int(),
  action: z.enum(["move", "write", "delete"]),
  file_path: z.string(),
  blob_sha: z.string().nullable(),
  size_bytes: z.coerce.number().nullable(),
  content: z.string().nullable(),
  is_current: z.boolean(),
  deliveries: z.int(),
});
const endRow = z.object({ is_finished: z.boolean() });
const statusRow = z.object({ status: z.enum(["pending", "failed"]) });
const tokenRow = z.object({ token: z.string().nullable() });
const anyRow = z.unknown();

/** The sync store over the functions of schema `private`, each one call and one transaction. */
export function createSqlSyncStore(sql: Sql, options: SqlSyncOptions): SyncStore {
  const { leaseSeconds } = options;
  const { once, withRetries } = createQueryRunner(options);

  return {
    async claim(workerId) {
      const [row] = await once("claim a sync", claimedRow, () =>
        sql`
        select sync_id, epoch, context
        from private.claim_sync(${workerId}, ${leaseSeconds}::int)`);
      return row === undefined ? null : toClaimedSync(row);
    },

    async plan({ syncId, epoch }, { sha, webUrl }, files) {
      const listed = files.map(({ path, blobSha, sizeBytes }) => ({
        path,
        blob_sha: blobSha,
        size_bytes: sizeBytes,
      }));
      const [row] = await withRetries("plan the sync", countRow, () =>
        sql`
        select private.plan_sync(
          p_sync_id => ${syncId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${leaseSeconds}::int,
          p_commit => ${sha},
          p_files => ${json(listed)},
          p_chunker_version => ${CHUNKER_VERSION},
          p_github_url => ${webUrl}
        ) as count`);
      return row?.count ?? 0;
    },

    async begin({ syncId, epoch }, limit) {
      const rows = await withRetries("begin files", fileRow, () =>
        sql`
        select seq, action, file_path, blob_sha, size_bytes, content, is_current, deliveries
        from private.begin_sync_files(
          p_sync_id => ${syncId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${leaseSeconds}::int,
          p_limit => ${limit}::int,
          p_chunker_version => ${CHUNKER_VERSION}
        )`);
      return rows.map((row) => ({
        seq: row.seq,
        action: row.action,
        filePath: row.file_path,
        blobSha: row.blob_sha,
        sizeBytes: row.size_bytes ?? 0,
        content: row.content,
        isCurrent: row.is_current,
        deliveries: row.deliveries,
      }));
    },

    async apply({ syncId, epoch }, seq, outcome) {
      const { document, embedder, chunks, error } = partsOf(outcome);
      await withRetries("apply a file", anyRow, () =>
        sql`
        select private.apply_sync_file(
          p_sync_id => ${syncId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${leaseSeconds}::int,
          p_seq => ${seq}::int,
          p_document => ${nullable(document)}::jsonb,
          p_embedder => ${embedder},
          p_chunks => ${nullable(chunks)}::jsonb,
          p_error => ${nullable(error)}::jsonb
        )`);
    },

    async renew(leases) {
      const held = leases.map(({ id, epoch }) => ({ id, epoch }));
      const rows = await once("renew leases", leaseRow, () =>
        sql`
        select id, epoch, is_held from private.renew_syncs(${
          sql.json(held)
        }, ${leaseSeconds}::int)`);
      return rows.map(({ id, epoch, is_held }) => ({
        id,
        epoch,
        state: is_held ? "held" : "lost",
      }));
    },

    async wakeSuccessor() {
      await once("wake a successor", anyRow, () =>
        sql`
        select private.wake_function(${FUNCTION_NAMES.quothSync})`);
    },

    async finish({ syncId, epoch }, headCommit) {
      const [row] = await withRetries("finish the sync", endRow, () =>
        sql`
        select private.finish_sync(
          p_sync_id => ${syncId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_head_commit => ${headCommit}
        ) as is_finished`);
      return row?.is_finished ?? false;
    },

    async fail({ syncId, epoch }, error, { isRetryable, retryAfterSeconds }) {
      const [row] = await withRetries("postpone the sync", statusRow, () =>
        sql`
        select private.fail_sync(
          p_sync_id => ${syncId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_error => ${nullable(error)}::jsonb,
          p_is_retryable => ${isRetryable},
          p_retry_after_seconds => ${retryAfterSeconds}::numeric
        ) as status`);
      return row?.status ?? "failed";
    },

    async yield({ syncId, epoch }) {
      await withRetries("hand on the sync", anyRow, () =>
        sql`
        select private.yield_sync(${syncId}::uuid, ${epoch}::bigint)`);
    },

    async githubToken(projectId) {
      const [row] = await withRetries("find the GitHub token", tokenRow, () =>
        sql`
        select private.github_token(${projectId}::uuid) as token`);
      return row?.token ?? null;
    },
  };

  function json(value: unknown) {
    return sql.json(toStorableJson(jsonValue.parse(value)));
  }

  function nullable(value: unknown) {
    return value === null ? null : json(value);
  }
}

function toClaimedSync({ sync_id, epoch, context }: z.infer<typeof claimedRow>) {
  const { project } = context;
  return {
    syncId: sync_id,
    epoch,
    context: {
      kind: context.kind,
      reason: context.reason,
      commitSha: context.commit_sha,
      project: {
        id: project.id,
        githubRepo: project.github_repo,
        defaultBranch: project.default_branch,
        includeGlobs: project.include_globs,
        indexedCommit: project.indexed_commit,
        headCommit: project.head_commit,
        chunkerVersion: project.chunker_version,
        lacksFiles: project.lacks_files,
        embedder: project.embedder,
        nextEmbedder: project.next_embedder,
      },
    },
  };
}

/** The arguments that an outcome stands for. */
function partsOf(outcome: FileOutcome) {
  const nothing = { document: null, embedder: null, chunks: null, error: null };
  switch (outcome.kind) {
    case "done":
      return nothing;
    case "refused":
      return { ...nothing, error: outcome.error };
    case "written": {
      const { document, embedder, chunks } = outcome;
      return { document, embedder, chunks, error: null };
    }
  }
}
