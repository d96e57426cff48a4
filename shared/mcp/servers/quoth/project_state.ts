import type { TransactionSql } from "postgres";
import { z } from "zod";
import { SwarmError } from "../../../errors/swarm_error.ts";

/** How far the index is behind its repository; part of every answer. */
export const freshnessSchema = z.object({
  indexed_commit: z.string().nullable(),
  indexed_at: z.string().nullable(),
  head_commit: z.string().nullable().describe("The branch's newest when it was last asked for"),
  head_checked_at: z.string().nullable(),
  is_behind: z.boolean(),
  document_count: z.number(),
  pending_chunks: z.number().describe("Wait for their vector; words alone find them"),
  failed_chunks: z.number().describe("Refused by the embedder; words alone find them"),
});

const projectSchema = z.object({
  id: z.guid(),
  slug: z.string(),
  github_repo: z.string(),
  github_url: z.string().nullable(),
  language: z.string(),
  embedder: z.string().nullable(),
  next_embedder: z.string().nullable(),
  has_vectors: z.boolean(),
  is_english_only: z.boolean(),
  similarity_floor: z.number(),
  freshness: freshnessSchema,
});

/** A project as its searches need it. */
export type ProjectState = z.infer<typeof projectSchema>;

/**
 * Reads a project by id or slug with the caller's rights.
 *
 * @throws SwarmError `PROJECT_NOT_FOUND`, also for projects of other people.
 */
export async function readProjectState(
  sql: TransactionSql,
  projectId: string,
): Promise<ProjectState> {
  const [row] = await sql`
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
      )
    ) as project
    from public.projects as project
    left join public.embedders as embedder on embedder.name = project.embedder
    where project.slug = ${projectId} or project.id::text = lower(${projectId})
    -- A slug may look like an id.
    order by project.slug = ${projectId}
    limit 1`;
  if (row !== undefined) return projectSchema.parse(row.project);
  throw new SwarmError(
    "PROJECT_NOT_FOUND",
    `Cannot use project '${
      projectId.slice(0, 100)
    }': it does not exist, or you are no member of it`,
    { hint: "quoth_list_projects names the projects that you are a member of." },
  );
}
