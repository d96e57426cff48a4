/**
 * `deno task demo`: runs the main job end to end on a separate stack. The agents of a signed-in
 * user read a folder through an MCP server that requires a key, hand off, ask a person and write a
 * report. A second job is cancelled. The demo computes its final claims from evidence.
 */
import { resolve } from "node:path";
import { interruptionSignal } from "./cli/end_of_run.ts";
import { unreadable } from "./files/read_named_file.ts";
import { runCommand } from "./cli/run_command.ts";
import { runDemo } from "./demo/run_demo.ts";
import { TraceView } from "./demo/trace_view.ts";
import { describeProgress } from "./platform/describe_progress.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { green, red, writeLine, writeStatus } from "./terminal.ts";

async function realFolder(path: string): Promise<string> {
  return await Deno.realPath(path).catch((cause) => {
    throw unreadable(path, cause);
  });
}

await runCommand(
  {
    name: "deno task demo",
    summary: "Runs a multi-agent job over a folder of Markdown files, end to end.",
    options: {
      db: { type: "string", placeholder: "pglite|native|URL", help: "Database. Default: pglite." },
      json: { type: "boolean", help: "Print one line of JSON instead of the trace." },
    },
    positionals: "[folder]",
  },
  async ({ values, positionals }) => {
    const view = values.json ? null : new TraceView();
    const result = await runDemo({
      db: values.db ?? "pglite",
      folder: await realFolder(resolve(positionals[0] ?? `${PROJECT_ROOT}/docs`)),
      view,
      signal: interruptionSignal(),
      ...values.json ? {} : { onProgress: (progress) => writeStatus(describeProgress(progress)) },
    });
    if (values.json) {
      writeLine(JSON.stringify(result));
    } else {
      for (const [name, isMet] of Object.entries(result.criteria)) {
        writeLine(`${isMet ? green("proven") : red("not proven")}  ${name.replaceAll("_", " ")}`);
      }
      writeLine(
        `${result.tasks} tasks, ${result.steps} steps, ${result.events} events on ${result.model}; ` +
          `pickup ${result.pickup_ms_p50} ms (median), boot ${result.boot_ms} ms, ` +
          `all in ${result.total_ms} ms`,
      );
    }
    if (!result.ok) throw new Error("The demo did not prove all of its claims");
  },
);
