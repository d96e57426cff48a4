import { parseEnv } from "node:util";
import { join } from "node:path";
import type { Environment } from "../../stack/stack_environment.ts";
import { connectionFilePath } from "../platform/connection_file.ts";
import { PROJECT_ROOT } from "../project_root.ts";
import { CommandError } from "./run_command.ts";

/** The help text for {@linkcode findDatabaseUrl}. */
export const DATABASE_OPTION = {
  type: "string",
  placeholder: "URL",
  help:
    "The database. Default: SUPABASE_DB_URL of the environment or .env, otherwise the running stack.",
} as const;

/**
 * Finds the database of a command: `--db`, `SUPABASE_DB_URL`, or the database of the stack that
 * `deno task start` serves in this folder.
 *
 * @throws CommandError when there is none.
 */
export async function findDatabaseUrl(
  given: string | undefined,
  environment: Environment,
): Promise<string> {
  const url = given ?? environment["SUPABASE_DB_URL"] ?? await urlOfRunningStack(environment);
  if (url !== undefined) return url;
  throw new CommandError(
    "Cannot find a database: no stack is running in this folder. Run deno task start in another " +
      "terminal, set SUPABASE_DB_URL or pass --db",
  );
}

async function urlOfRunningStack(environment: Environment): Promise<string | undefined> {
  return (await connectionOfRunningStack(environment))["SUPABASE_DB_URL"];
}

async function connectionOfRunningStack(environment: Environment): Promise<Partial<Environment>> {
  const path = connectionFilePath(dataFolder(environment));
  const text = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  const connection = parseEnv(text);
  return await isListening(connection["SUPABASE_URL"]) ? connection : {};
}

/** False after a stack was killed, which leaves its file behind. */
async function isListening(url: string | undefined): Promise<boolean> {
  if (url === undefined) return false;
  const { hostname, port } = new URL(url);
  try {
    (await Deno.connect({ hostname, port: Number(port) })).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
}

/** Address and keys of a project, for commands that act as a user. */
export interface ProjectKeys {
  readonly apiUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
}

/**
 * Finds the project of a command: that of `SUPABASE_URL`, `SUPABASE_PUBLISHABLE_KEY` and
 * `SUPABASE_SECRET_KEY`, or the stack that `deno task start` serves in this folder.
 *
 * @throws CommandError when there is none, or when one of the variables is missing.
 */
export async function findProject(environment: Environment): Promise<ProjectKeys> {
  const isNamed = environment["SUPABASE_URL"] !== undefined;
  const variables = isNamed ? environment : await connectionOfRunningStack(environment);
  const valueOf = (name: string): string => {
    const value = variables[name];
    if (value !== undefined) return value;
    throw new CommandError(
      isNamed
        ? `Cannot use the project of SUPABASE_URL: ${name} is not set`
        : "Cannot find a project: no stack is running in this folder. Run deno task start in " +
          "another terminal, or set SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY and SUPABASE_SECRET_KEY",
    );
  };
  return {
    apiUrl: valueOf("SUPABASE_URL"),
    publishableKey: valueOf("SUPABASE_PUBLISHABLE_KEY"),
    secretKey: valueOf("SUPABASE_SECRET_KEY"),
  };
}

/** Returns the folder of data, keys and files of `deno task start`. */
export function dataFolder(environment: Environment): string {
  return environment["SUPASWARM_DATA_DIR"] || join(PROJECT_ROOT, ".supaswarm");
}
