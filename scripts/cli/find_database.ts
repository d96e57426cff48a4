import { findDatabase } from "../../client/command/database/find_database.ts";
import { readProjectUrl } from "../../client/command/project/project_url.ts";
import { dataFolderOf, runningStack } from "../../client/command/project/running_stack.ts";
import type { Environment } from "../../stack/stack_environment.ts";
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
 * @throws CommandError when there is none, or its URL is not valid.
 */
export async function findDatabaseUrl(
  given: string | undefined,
  environment: Environment,
): Promise<string> {
  const found = await findDatabase(given, PROJECT_ROOT, environment);
  if (found !== null) return found.url;
  throw new CommandError(
    "Cannot find a database: no stack is running in this folder. Run deno task start in another " +
      "terminal, set SUPABASE_DB_URL or pass --db",
  );
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
 * @throws CommandError when there is none, or when one of the variables is missing or not valid.
 */
export async function findProject(environment: Environment): Promise<ProjectKeys> {
  const isNamed = environment["SUPABASE_URL"] !== undefined;
  const variables = isNamed ? environment : await runningStack(dataFolder(environment)) ?? {};
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
    apiUrl: readProjectUrl(valueOf("SUPABASE_URL"), "SUPABASE_URL"),
    publishableKey: valueOf("SUPABASE_PUBLISHABLE_KEY"),
    secretKey: valueOf("SUPABASE_SECRET_KEY"),
  };
}

/** Returns the folder of data, keys and files of `deno task start`. */
export function dataFolder(environment: Environment): string {
  return dataFolderOf(PROJECT_ROOT, environment);
}
