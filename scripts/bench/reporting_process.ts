import { fileURLToPath } from "node:url";
import { PROJECT_ROOT } from "../project_root.ts";

/** A program of this folder in a process of its own, which answers a line with a line of JSON. */
export interface ReportingProcess<Report> extends AsyncDisposable {
  /** What the program reports now; the first time, once it serves. */
  ask(): Promise<Report>;
}

/**
 * Starts a program.
 *
 * @param program Its file's name.
 * @param env Added to the environment.
 */
export function startReportingProcess<Report>(
  program: string,
  env: Readonly<Record<string, string>> = {},
): ReportingProcess<Report> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", fileURLToPath(new URL(program, import.meta.url))],
    cwd: PROJECT_ROOT,
    env,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    async ask() {
      await input.write(new TextEncoder().encode("\n"));
      const { value } = await output.read();
      if (value === undefined) throw new Error(`The process of ${program} has ended`);
      // One line for one line, written by the programs of this folder.
      return JSON.parse(value) as Report;
    },
    async [Symbol.asyncDispose]() {
      // What it does may never end, so it is not asked to.
      child.kill("SIGKILL");
      await output.cancel().catch(() => {});
      await input.abort().catch(() => {});
      await child.status;
    },
  };
}
