import { z } from "../../vendor/zod.js";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";
import { QUOTH_SCOPES } from "./quoth_scopes.ts";

const MAX_PROJECTS = 500;

const projectSchema = z.object({
  slug: z.string().describe("The projectId for the other tools"),
  id: z.string(),
  github_repo: z.string().nullable().describe("Null for a folder, which has no repository"),
  default_branch: z.string(),
  language: z.string(),
  document_count: z.number(),
  indexed_at: z.string().nullable(),
  is_behind: z.boolean(),
});

/** Lists the projects that the caller may search. */
export const listProjectsTool = defineTool({
  name: "quoth_list_projects",
  title: "List documentation projects",
  description: "Lists the projects whose documents you may search and read, by slug.",
  version: "1",
  scopes: QUOTH_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({}),
  output: z.object({
    projects: z.array(projectSchema),
    is_cut: z.boolean().describe(`There are more than ${MAX_PROJECTS}`),
  }),
  async run(_args, context) {
    try {
      const rows = await asOwner(context, "read", (sql) =>
        sql`
        select jsonb_build_object(
          'slug', project.slug, 'id', project.id, 'github_repo', project.github_repo,
          'default_branch', project.default_branch, 'language', project.language,
          'document_count', (
            select count(*) from public.documents as document where document.project_id = project.id
          ),
          'indexed_at', project.indexed_at,
          'is_behind', project.head_commit is distinct from project.indexed_commit
        ) as project
        from public.projects as project
        order by project.slug
        limit ${MAX_PROJECTS + 1}`);
      const projects = rows.slice(0, MAX_PROJECTS).map((row) => projectSchema.parse(row.project));
      return { projects, is_cut: rows.length > MAX_PROJECTS };
    } catch (error) {
      context.signal.throwIfAborted();
      throw toSwarmError(error, "list the projects");
    }
  },
});
