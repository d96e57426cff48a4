import { lazily } from "../../shared/platform/values/lazily.ts";

/** Supabase's edge runtime is compatible with this version of Deno. */
export const EDGE_DENO = "deno@2.1.4";

/** The result of a run of the edge runtime's Deno. */
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
  return await run(await findEdgeDeno(), args, cwd, env);
}

/** Finds the program that npm installed. Cached, because npx takes longer than most runs. */
export const findEdgeDeno: () => Promise<string> = lazily(async (): Promise<string> => {
  const { succeeded, stdout, stderr } = await run(
    "npx",
    [
      "-y",
      EDGE_DENO,
      "eval",
      "--no-lock",
      "await Deno.stdout.write(new TextEncoder().encode(Deno.execPath()))",
    ],
    Deno.cwd(),
    {},
  );
  if (!succeeded) throw new Error(`Cannot get ${EDGE_DENO} from npm:\n${stderr}`);
  return stdout;
});

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<EdgeDenoRun> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd,
    env: { DENO_TLS_CA_STORE: "system", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  return { succeeded: success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
