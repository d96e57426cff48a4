import { runningStack } from "../../client/command/project/running_stack.ts";
import { type Config, readConfig } from "../../shared/platform/config/env.ts";
import type { Environment } from "../../stack/stack_environment.ts";
import { dataFolder } from "../cli/find_database.ts";
import { CommandError } from "../cli/run_command.ts";

/**
 * The settings of a worker process: those that edge functions have, from the environment, or of the
 * stack that runs in this folder.
 *
 * @throws CommandError when there is no project; SwarmError CONFIG_INVALID
 */
export async function readWorkerSettings(environment: Environment): Promise<Config> {
  const isNamed = environment["SUPABASE_URL"] !== undefined;
  const stack = isNamed ? null : await runningStack(dataFolder(environment));
  if (!isNamed && stack === null) {
    throw new CommandError(
      "Cannot find a project: no stack is running in this folder. Run deno task start in another " +
        "terminal, or set SUPABASE_URL, SUPABASE_SECRET_KEY and SUPABASE_DB_URL",
    );
  }
  // Tools and models of a laptop are on loopback.
  const variables: Environment = stack === null
    ? environment
    : { ...environment, SUPASWARM_ALLOW_LOOPBACK: "true", ...stack };
  const { SUPABASE_SECRET_KEY: key } = variables;
  const keys = key === undefined ? {} : { SUPABASE_SECRET_KEYS: JSON.stringify({ default: key }) };
  const all: Environment = { ...keys, ...variables };
  return readConfig((name) => all[name]);
}
