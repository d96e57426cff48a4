import { randomBytes } from "node:crypto";
import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { toSwarmError } from "../../shared/platform/db/to_swarm_error.ts";

/** The properties of a project. Null keeps the current value, or uses the default. */
export interface ProjectToAdd {
  readonly slug: string;
  /** `owner/name`; null for a project that uploads its files. */
  readonly repo: string | null;
  readonly branch: string | null;
  readonly globs: readonly string[] | null;
  readonly language: string | null;
  readonly embedder: string | null;
  /** Emails or ids of users. */
  readonly members: readonly string[];
  readonly isSynced: boolean;
  /** Token for this repository only; null keeps its current token. */
  readonly token?: string | null;
  /** Token for all projects without their own token; null keeps the current one. */
  readonly defaultToken?: string | null;
}

const addedRow = z.tuple([z.object({
  project: z.object({
    project_id: z.string(),
    is_new: z.boolean(),
    slug: z.string(),
    github_repo: z.string().nullable(),
    default_branch: z.string(),
    include_globs: z.array(z.string()),
    embedder: z.string().nullable(),
    next_embedder: z.string().nullable(),
    webhook_secret: z.string().nullable(),
    project_url: z.string().nullable(),
  }),
})]);
const tokenRow = z.tuple([z.object({ token: z.enum(["own", "default"]).nullable() })]);
const syncRow = z.tuple([z.object({ sync_id: z.string() })]);

/** An added project, with the settings of its webhook. */
export type AddedProject = z.infer<typeof addedRow>[0]["project"] & {
  /** The token that reads its repository; null: none, which is enough for a public repository. */
  readonly token: "own" | "default" | null;
  readonly sync_id: string | null;
};

/**
 * Adds a project or changes the one with that slug, in one transaction with its members and tokens,
 * and requests its first sync. Safe to repeat: the webhook's secret stays the same. Does not sync a
 * project without a repository.
 *
 * @throws SwarmError PROJECT_LANGUAGE_UNKNOWN, EMBEDDER_NOT_FOUND, USER_NOT_FOUND,
 * PROJECT_SOURCE_MISMATCH, …
 */
export async function addProject(sql: Sql, project: ProjectToAdd): Promise<AddedProject> {
  try {
    return await sql.begin(async (transaction) => {
      const rows = await transaction`
        select private.add_project(
          p_slug => ${project.slug},
          p_github_repo => ${project.repo},
          p_branch => ${project.branch},
          p_globs => ${project.globs === null ? null : sql.json(project.globs)}::jsonb,
          p_language => ${project.language},
          p_embedder => ${project.embedder},
          p_secret => ${randomBytes(32).toString("hex")}
        ) as project`;
      const [{ project: added }] = addedRow.parse([...rows]);
      for (const member of project.members) {
        await transaction`
          select private.add_project_member(${added.project_id}::uuid, ${member})`;
      }
      if (project.token) {
        await transaction`
          select private.set_github_token(${added.project_id}::uuid, ${project.token})`;
      }
      if (project.defaultToken) {
        await transaction`select private.set_github_token(null, ${project.defaultToken})`;
      }
      const tokens = await transaction`
        select private.token_in_use(${added.project_id}::uuid) as token`;
      const [{ token }] = tokenRow.parse([...tokens]);
      if (!project.isSynced || project.repo === null) return { ...added, token, sync_id: null };
      const syncs = await transaction`
        select sync_id from private.request_sync(${added.slug})`;
      const [{ sync_id }] = syncRow.parse([...syncs]);
      return { ...added, token, sync_id };
    });
  } catch (error) {
    throw toSwarmError(error, "add the project");
  }
}
