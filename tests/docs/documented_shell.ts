import assert from "node:assert/strict";
import { join } from "node:path";

/** The surroundings of a page's shell blocks. */
export interface DocumentedShellOptions {
  /** For the files of the shell itself. */
  readonly folder: string;
  /** Where the blocks run. */
  readonly cwd: string;
  /** Address of a stand-in for the Management API. */
  readonly apiUrl: string;
  /** May change between blocks. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The shell blocks of a page, in order, without those that say why they are not run. */
export async function shellBlocks(page: string): Promise<string[]> {
  const text = await Deno.readTextFile(page);
  return [...text.matchAll(/(?<!^<!-- not run: .+ -->\n\n)^```sh\n([^]*?)^```$/gm)].map((
    [, block = ""],
  ) => block);
}

/**
 * A shell that runs a block unchanged and returns its output. Its `npx` calls the real one, and the
 * Supabase CLI with the profile of the stand-in API.
 */
export async function documentedShell(
  { folder, cwd, apiUrl, environment }: DocumentedShellOptions,
): Promise<(block: string) => Promise<string>> {
  const profile = join(folder, "profile.yaml");
  await Deno.writeTextFile(
    profile,
    `name: mock\napi_url: ${apiUrl}\ndashboard_url: ${apiUrl}\nproject_host: mock.local\n`,
  );
  const bin = join(folder, "bin");
  await Deno.mkdir(bin);
  const realPath = Deno.env.get("PATH") ?? "";
  await Deno.writeTextFile(
    join(bin, "npx"),
    `#!/bin/sh
PATH='${realPath}'
case "$*" in
  *supabase@*) exec npx "$@" --profile '${profile}' --agent no ;;
  *) exec npx "$@" ;;
esac
`,
    { mode: 0o755 },
  );
  return async (block) => {
    const { success, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-ec", block],
      cwd,
      env: {
        ...environment,
        PATH: `${bin}:${realPath}`,
        SUPABASE_HOME: join(folder, "cli"),
        SUPABASE_TELEMETRY_DISABLED: "1",
        DO_NOT_TRACK: "1",
      },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    const output = decoder.decode(stdout);
    assert.ok(success, `${block}\n${output}${decoder.decode(stderr)}`);
    // The CLI reports its progress on stderr.
    return block.includes("npx") ? output + decoder.decode(stderr) : output;
  };
}

/** A database's URL for clients that would ask for TLS. */
export function withoutTls(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("sslmode", "disable");
  return url.href;
}
