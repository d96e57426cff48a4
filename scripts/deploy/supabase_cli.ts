import { SUPABASE_CLI } from "../../client/command/supabase_cli.ts";

/** The result of a run of the CLI. */
export interface CliRun {
  readonly succeeded: boolean;
  /** Stdout, then stderr. */
  readonly output: string;
  readonly stdout: string;
}

/** Runs the real Supabase CLI from npm, without prompts and telemetry. */
export async function runSupabaseCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliRun> {
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: ["-y", SUPABASE_CLI, ...args, "--agent", "no"],
    env: { SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  const text = decoder.decode(stdout);
  return { succeeded: success, stdout: text, output: text + decoder.decode(stderr) };
}

/** Returns the CLI's flag for a database on this machine, which has no TLS. */
export function remoteFlag(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("sslmode", "disable");
  return `--remote=${url}`;
}
