import type { PendingQuery, Row, TransactionSql } from "../../vendor/postgres.js";
import { z } from "../../vendor/zod.js";
import { SwarmError } from "../../platform/errors/swarm_error.ts";

/** How far the index is behind its repository; part of every answer. */
export const freshnessSchema = z.object({
  indexed_commit: z.string().nullable(),
  indexed_at: z.string().nullable(),
  head_commit: z.string().nullable().describe("The branch's newest commit at the last check"),
  head_checked_at: z.string().nullable(),
  is_behind: z.boolean(),
  document_count: z.number(),
  pending_chunks: z.number().describe("Chunks without a vector yet; found by words only"),
  failed_chunks: z.number().describe("Chunks that the embedder rejected; found by words only"),
});

/** The running or waiting sync, otherwise the last one if it failed; embedding does not count. */
const syncSchema = z.object({
  status: z.enum(["pending", "running", "failed"]),
  problem: z.string().nullable().describe("The reason why it waits or failed"),
  run_after: z.string().nullable(),
});

const projectSchema = z.object({
  id: z.guid(),
  slug: z.string(),
  github_repo: z.string().nullable(),
  github_url: z.string().nullable(),
  language: z.string(),
  embedder: z.string().nullable(),
  next_embedder: z.string().nullable(),
  has_vectors: z.boolean(),
  is_english_only: z.boolean(),
  similarity_floor: z.number(),
  freshness: freshnessSchema,
  sync: syncSchema.nullable(),
  refused_file_count: z.number(),
});

export type ProjectSync = z.infer<typeof syncSchema>;

/** A project with the data that searches need. */
export type ProjectState = z.infer<typeof projectSchema>;

/**
 * Reads a project by id or slug with the caller's rights.
 *
 * @throws SwarmError `PROJECT_NOT_FOUND`, also for other users' projects.
 */
export async function readProjectState(
  sql: TransactionSql,
  projectId: string,
): Promise<ProjectState> {
  const [row] = await selectProjectState(sql, projectId);
  return toProjectState(row?.project, projectId);
}

/**
 * Parses the column `project` of {@linkcode selectProjectState}.
 *
 * @throws SwarmError `PROJECT_NOT_FOUND` when there is no row.
 */
export function toProjectState(column: unknown, projectId: string): ProjectState {
  if (column !== undefined) return projectSchema.parse(column);
  throw new SwarmError(
    "PROJECT_NOT_FOUND",
    `Cannot use project '${projectId.slice(0, 100)}': it does not exist, or you are not a member`,
    { hint: "quoth_list_projects lists the projects that you are a member of." },
  );
}

/**
 * Selects a project as the single column `project`, or no row. As part of the statement that reads
 * its documents it uses the same snapshot.
 */
export function selectProjectState(sql: TransactionSql, projectId: string): PendingQuery<Row[]> {
  return sql`
    select jsonb_build_object(
      'id', project.id, 'slug', project.slug, 'github_repo', project.github_repo,
      'github_url', project.github_url,
      'language', project.language, 'embedder', project.embedder,
      'next_embedder', project.next_embedder,
      'has_vectors', exists (
        select from public.document_embeddings as chunk
        where chunk.project_id = project.id and chunk.embedder = project.embedder
          and chunk.embedding is not null
      ),
      'is_english_only', coalesce(embedder.is_english_only, false),
      'similarity_floor', coalesce(embedder.similarity_floor, 0),
      'freshness', (
        select to_jsonb(freshness) - 'embedder' - 'next_embedder'
        from public.project_freshness(project.id) as freshness
      ),
      'refused_file_count', (
        select count(*) from public.quoth_file_errors as refused
        where refused.project_id = project.id
      ),
      'sync', (
        select jsonb_build_object(
          'status', sync.status, 'run_after', sync.run_after,
          'problem', (sync.error ->> 'code') || ': ' || (sync.error ->> 'message')
            || coalesce('. ' || (sync.error ->> 'hint'), '')
        )
        from (
          (
            select unfinished.* from public.quoth_syncs as unfinished
            where unfinished.project_id = project.id and unfinished.kind <> 'embed'
              and unfinished.finished_at is null
            order by unfinished.seq
            limit 1
          )
          union all
          (
            select last.* from public.quoth_syncs as last
            where last.project_id = project.id and last.kind <> 'embed'
            order by last.seq desc
            limit 1
          )
        ) as sync
        where sync.status <> 'completed'
        limit 1
      )
    ) as project
    from public.projects as project
    left join public.embedders as embedder on embedder.name = project.embedder
    where project.slug = ${projectId} or project.id::text = lower(${projectId})
    -- A slug may look like an id.
    order by project.slug = ${projectId}
    limit 1`;
}
