import { readConfig } from "./read_config.ts";

const DEFAULT_SCHEMAS = ["public"];

/**
 * The schemas that the REST API exposes, from `[api]` of the project's `supabase/config.toml`; the
 * first is the default. Skips GraphQL, which the stack does not have.
 *
 * @throws SwarmError `CONFIG_INVALID` for a file that is not TOML
 */
export async function readApiSchemas(projectRoot: string): Promise<readonly string[]> {
  const { api } = await readConfig(projectRoot);
  const schemas = (api?.schemas ?? []).filter((name) => name !== "graphql_public");
  return schemas.length === 0 ? DEFAULT_SCHEMAS : schemas;
}
