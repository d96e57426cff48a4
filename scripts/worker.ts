/** `deno task worker`: runs tasks, syncs and webhook messages in a process. */
import { startWorkerProcess } from "../shared/app/worker_process.ts";
import { createLogger } from "../shared/platform/log/logger.ts";
import { keepCombinedSignals } from "../shared/platform/isolate/keep_combined_signals.ts";
import { surviveStrayErrors } from "../shared/platform/isolate/survive_stray_errors.ts";
import { readEnvironment } from "../stack/stack_environment.ts";
import { endOfRun } from "./cli/end_of_run.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { usePlatform } from "./cli/use_database.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { writeLine, writeProgress } from "./terminal.ts";
import { readWorkerSettings } from "./worker/worker_settings.ts";
import { createStatusHandler, EventCounts } from "./worker/worker_status.ts";

const DEFAULT_PORT = 9464;
const DEFAULT_GRACE_SECONDS = 30;
const MAX_GRACE_SECONDS = 3_600;

await runCommand({
  name: "deno task worker",
  summary:
    "Runs tasks, syncs and webhook messages in this process, beside the edge functions or without " +
    "them, and serves /health, /ready and /metrics. SIGTERM returns running work.",
  options: {
    port: {
      type: "string",
      placeholder: "N",
      help: `Port of the status pages; 0: any free port. Default: ${DEFAULT_PORT}.`,
    },
    host: {
      type: "string",
      placeholder: "ADDRESS",
      help: "Address of the status pages; 0.0.0.0 in a container. Default: 127.0.0.1.",
    },
    grace: {
      type: "string",
      placeholder: "SECONDS",
      help:
        `How long running steps may take to end after SIGTERM. Default: ${DEFAULT_GRACE_SECONDS}.`,
    },
    json: { type: "boolean", help: "Print one line of JSON when it is ready." },
  },
}, async ({ values }) => {
  const port = wholeNumber("port", values.port, DEFAULT_PORT, 65_535);
  const graceMs = 1_000 *
    wholeNumber("grace", values.grace, DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS);
  const config = await readWorkerSettings(await readEnvironment(PROJECT_ROOT));
  // Says what is wrong with the database before anything is started.
  await usePlatform(config.databaseUrl, { applicationName: "supaswarm worker" }, async () => {});
  const end = endOfRun();
  const counts = new EventCounts();
  const log = counts.counting(createLogger("supaswarm-worker", config.logLevel));
  surviveStrayErrors(log);
  keepCombinedSignals();
  // A port that is taken is found out before anything is claimed.
  const status = Promise.withResolvers<ReturnType<typeof createStatusHandler>>();
  const server = serveStatus(
    values.host ?? "127.0.0.1",
    port,
    async (request) => (await status.promise)(request),
  );
  const worker = await startWorkerProcess(config, log);
  status.resolve(createStatusHandler(worker, counts, () => end.signal.aborted));
  const url = `http://${server.addr.hostname}:${server.addr.port}`;
  writeLine(
    values.json
      ? JSON.stringify({ ready: true, process_id: worker.id, pid: Deno.pid, url })
      : `Works on the tasks of ${config.apiKeys.url}. Status: ${url}/ready, ${url}/metrics`,
  );
  await end.reached;
  writeProgress("Ending: running work is returned …");
  await worker.stop(graceMs);
  await server.shutdown();
});

function serveStatus(
  hostname: string,
  port: number,
  handle: (request: Request) => Promise<Response>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve({ hostname, port, onListen() {} }, handle);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot serve the status pages on ${hostname}:${port}: ${reason}`);
  }
}

/** @throws CommandError when the option is no whole number up to `max`. */
function wholeNumber(name: string, text: string | undefined, otherwise: number, max: number) {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return value;
  throw new CommandError(`Cannot use --${name} ${text}: it is a whole number from 0 to ${max}`);
}
