import { join } from "node:path";
import { SwarmError } from "../shared/platform/errors/swarm_error.ts";
import { loadToml } from "./deps.ts";

const PATH = join("supabase", "config.toml");
const DEFAULT_SCHEMAS = ["public"];

/**
 * The schemas that the REST API exposes, from `[api]` of the project's `supabase/config.toml`; the
 * first is the default. Skips GraphQL, which the stack does not have.
 *
 * @throws SwarmError `CONFIG_INVALID` for a file that is not TOML
 */
export async function readApiSchemas(projectRoot: string): Promise<readonly string[]> {
  const text = await Deno.readTextFile(join(projectRoot, PATH)).catch(() => "");
  const { parse } = await loadToml();
  const schemas = apiSchemas(() => parse(text)).filter((name) => name !== "graphql_public");
  return schemas.length === 0 ? DEFAULT_SCHEMAS : schemas;
}

function apiSchemas(parse: () => object): string[] {
  try {
    const { api } = parse() as { api?: { schemas?: string[] } };
    return api?.schemas ?? [];
  } catch (cause) {
    throw new SwarmError(
      "CONFIG_INVALID",
      `Cannot read ${PATH}: ${cause instanceof Error ? cause.message : cause}`,
      { hint: "Correct the file and start again.", cause },
    );
  }
}
