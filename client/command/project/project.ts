import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { CommandError } from "../errors/command_error.ts";
import { parseToml } from "../deps.ts";
import { listNames, readOptional } from "./read_files.ts";

/** A Supabase project's folder, as far as the command needs it. */
export interface Project {
  readonly root: string;
  readonly name: string;
  /** The text of `supabase/config.toml`; null without one. */
  readonly config: string | null;
  /** The text of each migration by its path. */
  readonly migrations: ReadonlyMap<string, string>;
  /** The names of folders with functions, and of functions in the configuration. */
  readonly functions: ReadonlySet<string>;
}

export const CONFIG_PATH = "supabase/config.toml";
export const MIGRATIONS_PATH = "supabase/migrations";
export const FUNCTIONS_PATH = "supabase/functions";

/** Reads a project's folder, which may be empty. */
export async function readProject(root: string): Promise<Project> {
  const config = await readOptional(join(root, CONFIG_PATH));
  const names = (await listNames(join(root, MIGRATIONS_PATH))).filter((name) =>
    name.endsWith(".sql")
  );
  const migrations = await Promise.all(
    names.sort().map(async (name): Promise<[string, string]> => {
      const path = `${MIGRATIONS_PATH}/${name}`;
      return [path, await readFile(join(root, path), "utf8")];
    }),
  );
  const folders = (await listNames(join(root, FUNCTIONS_PATH))).filter((name) =>
    !/^[_.]/.test(name)
  );
  return {
    root,
    name: basename(root),
    config,
    migrations: new Map(migrations),
    functions: new Set([...folders, ...Object.keys(parseConfig(config ?? "").functions ?? {})]),
  };
}

/** The parts of the CLI's configuration that the command reads. */
export interface SupabaseConfig {
  api?: { schemas?: string[] };
  functions?: Record<string, unknown>;
}

/** Parses the text of `supabase/config.toml`. @throws CommandError `CONFIG_INVALID` */
export function parseConfig(text: string): SupabaseConfig {
  try {
    return parseToml(text) as SupabaseConfig;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(
      "CONFIG_INVALID",
      `Cannot read ${CONFIG_PATH}: ${reason}`,
      "Correct the file and run the command again.",
      { cause },
    );
  }
}
