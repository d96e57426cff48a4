import { parseEnv } from "node:util";
import { CommandError } from "../cli/run_command.ts";
import { connectionFilePath } from "./connection_file.ts";

/**
 * Refuses a port on which the stack of the same data folder already serves. `stack/` reports every
 * other port that is taken.
 *
 * @throws CommandError
 */
export async function assertNotRunning(dataDir: string, port: number): Promise<void> {
  const file = connectionFilePath(dataDir);
  const { SUPABASE_URL: url } = parseEnv(await Deno.readTextFile(file).catch(() => ""));
  if (url === undefined || Number(new URL(url).port) !== port || !await answers(port)) return;
  throw new CommandError(
    `Cannot start: this project's own stack already runs at ${url}. Use it, its keys are in ${file}; ` +
      "or stop it with Ctrl-C in its terminal; or start another one with --ephemeral --port 0",
  );
}

/** A stack that was killed leaves its file. */
async function answers(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch {
    return false;
  }
}
