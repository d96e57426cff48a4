import { fileURLToPath } from "node:url";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

/** A program of this folder in a separate process. It answers each line with a line of JSON. */
export interface ReportingProcess<Report> extends AsyncDisposable {
  readonly pid: number;
  /** Returns a report of the program. The first call waits until it serves. */
  ask(): Promise<Report>;
}

/**
 * Starts a program.
 *
 * @param program File name of the program.
 * @param env Added to the environment.
 * @param executable Another version of Deno. @default this one
 */
export function startReportingProcess<Report>(
  program: string,
  env: Readonly<Record<string, string>> = {},
  executable: string = Deno.execPath(),
): ReportingProcess<Report> {
  const child = new Deno.Command(executable, {
    // An older version cannot read the lock file.
    args: [
      "run",
      "-A",
      "--no-check",
      "--no-lock",
      fileURLToPath(new URL(program, import.meta.url)),
    ],
    cwd: PROJECT_ROOT,
    env,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    pid: child.pid,
    async ask() {
      await input.write(new TextEncoder().encode("\n"));
      const { value } = await output.read();
      if (value === undefined) {
        throw new Error(`Cannot read a report: the process of ${program} has ended`);
      }
      // No validation: programs of this folder write one line per request.
      return JSON.parse(value) as Report;
    },
    async [Symbol.asyncDispose]() {
      // Kill it, because its work may never end.
      child.kill("SIGKILL");
      await output.cancel().catch(() => {});
      await input.abort().catch(() => {});
      await child.status;
    },
  };
}
