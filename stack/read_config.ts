import { join } from "node:path";
import { SwarmError } from "../shared/platform/errors/swarm_error.ts";
import { loadToml } from "./deps.ts";

const PATH = join("supabase", "config.toml");

/** What the stack reads of the Supabase CLI's configuration. */
export interface ProjectConfig {
  readonly api?: { readonly schemas?: readonly string[] };
  readonly db?: {
    /** Paths and patterns start in the folder `supabase`. */
    readonly seed?: { readonly enabled?: boolean; readonly sql_paths?: readonly string[] };
  };
  readonly functions?: Readonly<Record<string, FunctionSettings>>;
}

/** The settings of an edge function. Paths start in the folder `supabase`. */
export interface FunctionSettings {
  readonly enabled?: boolean;
  readonly entrypoint?: string;
  readonly import_map?: string;
}

/**
 * Reads `supabase/config.toml`; a project without one has no settings.
 *
 * @throws SwarmError `CONFIG_INVALID` for a file that is not TOML
 */
export async function readConfig(projectRoot: string): Promise<ProjectConfig> {
  const text = await Deno.readTextFile(join(projectRoot, PATH)).catch(() => "");
  const { parse } = await loadToml();
  try {
    return parse(text);
  } catch (cause) {
    throw new SwarmError(
      "CONFIG_INVALID",
      `Cannot read ${PATH}: ${cause instanceof Error ? cause.message : cause}`,
      { hint: "Correct the file and start again.", cause },
    );
  }
}
