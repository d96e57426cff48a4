import { asOwner } from "../as_owner.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { embedSearch, type QueryVector } from "./embed_search.ts";
import { type ChunkHit, chunkHitSchema, MAX_CHUNKS_OF_FILE } from "./merge_hits.ts";
import { type ProjectState, selectProjectState, toProjectState } from "./project_state.ts";

/** Maximum number of chunks from one database search. */
const MAX_CHUNKS = 200;

/** A search in a project. */
export interface ProjectSearch {
  readonly query: string;
  /** The number of hits in the answer. */
  readonly limit: number;
  readonly pathPrefix: string | undefined;
}

/** The hits and the project's state in the same snapshot. */
export interface FoundChunks {
  readonly project: ProjectState;
  /** Best first. */
  readonly chunks: readonly ChunkHit[];
  readonly embedded: QueryVector;
}

/**
 * Searches a project by meaning and words. While the query is embedded, no transaction is open and
 * the project may change; when it has switched to another embedder, the query is embedded again.
 */
export async function searchProject(
  seen: ProjectState,
  search: ProjectSearch,
  context: ToolContext,
): Promise<FoundChunks> {
  const found = await findChunks(
    seen,
    search,
    await embedSearch(search.query, seen, context),
    context,
  );
  if (found.project.embedder === seen.embedder) return found;
  const again = await embedSearch(search.query, found.project, context);
  return await findChunks(found.project, search, again, context);
}

/**
 * One statement, so that chunks and project share a snapshot. If the vector is outdated, it
 * searches by words.
 */
async function findChunks(
  { id, embedder }: ProjectState,
  { query, limit, pathPrefix }: ProjectSearch,
  embedded: QueryVector,
  context: ToolContext,
): Promise<FoundChunks> {
  const vector = embedded.vector === null ? null : `[${embedded.vector.join(",")}]`;
  // More than the requested hits, because an adjacent chunk may rank far lower.
  const count = Math.min(MAX_CHUNKS, 20 + 6 * limit);
  const [row] = await asOwner(context, "read", (sql) =>
    sql`
    select state.project, (
      select coalesce(jsonb_agg(to_jsonb(found) order by found.ordinality), '[]')
      from public.search_documents(
        p_project_id => ${id}::uuid,
        p_query => ${query},
        p_query_embedding =>
          case when state.project ->> 'embedder' = ${embedder} then ${vector}::extensions.vector end,
        p_embedder => ${embedder}::text,
        p_limit => ${count}::int,
        p_path_prefix => ${pathPrefix ?? null}::text,
        p_per_document => ${MAX_CHUNKS_OF_FILE}::int
      ) with ordinality as found
    ) as chunks
    from (${selectProjectState(sql, id)}) as state`);
  const project = toProjectState(row?.project, id);
  return {
    project,
    chunks: chunkHitSchema.array().parse(row?.chunks),
    embedded: project.embedder === embedder
      ? embedded
      : { vector: null, reason: "the project has just been switched to another embedder" },
  };
}
