/** Supabase's edge runtime is compatible with this version of Deno. */
export const EDGE_DENO = "deno@2.1.4";

/** How a run of the edge runtime's Deno ended. */
export interface EdgeDenoRun {
  readonly succeeded: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the edge runtime's Deno, from npm, in a folder. */
export async function runEdgeDeno(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<EdgeDenoRun> {
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: ["-y", EDGE_DENO, ...args],
    cwd,
    env: { DENO_TLS_CA_STORE: "system", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  return { succeeded: success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
