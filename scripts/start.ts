import { join, resolve } from "node:path";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { dataFolder } from "./cli/find_database.ts";
import { endOfRun } from "./cli/end_of_run.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { type Environment, readEnvironment } from "../stack/stack_environment.ts";
import { type LocalPlatform, startPlatform } from "./platform/start_platform.ts";
import { hasConsole } from "./console/build_console.ts";
import { consolePort } from "./console/console_port.ts";
import { serveConsole, type ServedConsole } from "./console/serve_console.ts";
import { removeConnectionFile, writeConnectionFile } from "./platform/connection_file.ts";
import { assertNotRunning } from "./platform/assert_not_running.ts";
import { choosePorts } from "./platform/choose_ports.ts";
import { describeProgress } from "./platform/describe_progress.ts";
import { logWriter } from "./platform/log_line.ts";
import { resetDataFolder } from "../stack/reset_data_folder.ts";
import { bold, dim, writeError, writeLine, writeProgress, writeStatus } from "./terminal.ts";

await runCommand({
  name: "deno task start",
  summary: "Boots the whole platform on this machine and serves until Ctrl-C.",
  options: {
    db: {
      type: "string",
      placeholder: "pglite|native|URL",
      help:
        "The database: embedded, this machine's Postgres, or a prepared server. Default pglite.",
    },
    port: {
      type: "string",
      placeholder: "N",
      help: "Port of the API; the database uses the next one. 0: any free ports. Default 54321.",
    },
    ephemeral: { type: "boolean", help: "Keep no data after the end." },
    "no-console": { type: "boolean", help: "Do not serve the console." },
    reset: { type: "boolean", help: "First delete the data of earlier starts; keys stay." },
    json: {
      type: "boolean",
      help: "Print one line of JSON when it is ready, and log lines of JSON.",
    },
  },
}, async ({ values }) => {
  const end = endOfRun();
  const environment = await readEnvironment(PROJECT_ROOT);
  const dataDir = values.ephemeral ? null : dataFolder(environment);
  const ports = choosePorts(values.port);
  await assertNotRunning(dataFolder(environment), ports.api);
  const files = await filesFolder(environment);
  if (values.reset && dataDir !== null) await resetDataFolder(dataDir);
  const stack = await startPlatform({
    signal: end.signal,
    ...values.json ? {} : { onProgress: (progress) => writeStatus(describeProgress(progress)) },
    db: values.db ?? "pglite",
    port: ports.api,
    databasePort: ports.database,
    dataDir,
    projectRoot: PROJECT_ROOT,
    watch: true,
    env: environment,
    ...(files === null ? {} : { filesFolder: files }),
    onLog: logWriter({ isForProgram: values.json }),
    onFailure: (error) => end.fail(error),
  });
  const isServed = !values["no-console"] && await hasConsole();
  const page = isServed ? openConsole(stack, { isForProgram: values.json }) : null;
  try {
    const consoleUrl = page?.url ?? null;
    if (dataDir !== null) await writeConnectionFile(dataDir, stack, values.db ?? "pglite");
    writeLine(
      values.json ? readyJson(stack, consoleUrl) : readyText(stack, { files, consoleUrl }),
    );
    await end.reached;
    writeProgress("Stopping …");
  } finally {
    await page?.stop();
    if (dataDir !== null) await removeConnectionFile(dataDir);
    await stack.stop();
  }
});

/**
 * Returns the folder that agents may read: the one that is set, or the documentation for the demo
 * agents; null without either.
 *
 * @throws CommandError when the folder that is set does not exist.
 */
async function filesFolder(environment: Environment): Promise<string | null> {
  const set = environment["SUPASWARM_FILES_DIR"];
  if (!set && !await isPresent(join(PROJECT_ROOT, "agents", "reader.md"))) return null;
  const folder = resolve(set || join(PROJECT_ROOT, "docs"));
  const entry = await Deno.stat(folder).catch(() => null);
  if (entry?.isDirectory) return folder;
  throw new CommandError(`Cannot serve SUPASWARM_FILES_DIR: ${folder} is not a folder`);
}

async function isPresent(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** Serves the console unless its port is in use. The platform does not depend on it. */
function openConsole(
  stack: LocalPlatform,
  { isForProgram }: { readonly isForProgram: boolean },
): ServedConsole | null {
  const port = consolePort(stack.apiUrl);
  try {
    return serveConsole({
      port,
      apiUrl: stack.apiUrl,
      publishableKey: stack.publishableKey,
      callers: stack.callers,
      buildsAtOnce: !isForProgram,
      onBuildFailure: (error) => writeError(error.message),
    });
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    writeError(`Cannot serve the console: port ${port} is in use. Everything else runs.`);
    return null;
  }
}

function readyJson(stack: LocalPlatform, consoleUrl: string | null): string {
  const { cpu, isCpuEnforced, wallClockMs } = stack.functionLimits;
  return JSON.stringify({
    ready: true,
    pid: Deno.pid,
    api_url: stack.apiUrl,
    db_url: stack.dbUrl,
    console_url: consoleUrl,
    publishable_key: stack.publishableKey,
    secret_key: stack.secretKey,
    functions: stack.functions,
    allowed_hosts: stack.callers.hosts,
    allowed_origins: stack.callers.origins,
    local_models: stack.localModels === null ? null : {
      url: stack.localModels.baseUrl,
      model: stack.localModels.model,
      source: stack.localModels.source,
    },
    other_ports: stack.opened,
    function_limits: {
      cpu_soft_ms: cpu?.softMs ?? null,
      cpu_hard_ms: cpu?.hardMs ?? null,
      is_cpu_enforced: cpu !== null && isCpuEnforced,
      wall_clock_ms: wallClockMs,
    },
    boot_ms: stack.bootMs,
  });
}

function readyText(
  stack: LocalPlatform,
  { files, consoleUrl }: { readonly files: string | null; readonly consoleUrl: string | null },
): string {
  const rows = [
    ...(consoleUrl === null ? [] : [["Console", consoleUrl] as const]),
    ["API", stack.apiUrl],
    ["Database", stack.dbUrl],
    ["Publishable key", stack.publishableKey],
    ["Secret key", stack.secretKey],
    ["Functions", stack.functions.join(", ")],
    ...(files === null ? [] : [["Files", `${files} (for planner and reader)`] as const]),
    ["Local model", describeLocalModels(stack)],
    ["Limits", describeLimits(stack.functionLimits)],
    ...stack.opened.map(({ url, serves }) => ["Also open", `${url} (${serves})`] as const),
    ["Open to", describeCallers(stack)],
  ] as const;
  return [
    bold(`SupaSwarm is ready in ${(stack.bootMs / 1_000).toFixed(1)} s.`),
    ...rows.map(([label, value]) => `  ${label.padEnd(16)}${value}`),
    dim("Press Ctrl-C to stop."),
  ].join("\n");
}

function describeLocalModels({ localModels }: LocalPlatform): string {
  if (localModels === null) return "none found; set OPENAI_BASE_URL or start a model server";
  const { baseUrl, model, source } = localModels;
  const answer = model === null ? "does not answer yet" : model;
  return `${baseUrl} (${source}: ${answer}), the provider local-model`;
}

/** Says who may use the ports, and what they can spend. */
function describeCallers({ callers, copiedSecrets }: LocalPlatform): string {
  const hosts = callers.hosts.map((host) => `the host ${host}`);
  const pages = ["localhost", ...callers.origins].join(", ");
  const keys = copiedSecrets.length === 0 ? "" : ` that use ${copiedSecrets.join(", ")}`;
  return `${["programs of this machine", ...hosts, `pages from ${pages}`].join("; ")}. ` +
    `They can sign up and start jobs${keys}.`;
}

function describeLimits(
  { cpu, isCpuEnforced, wallClockMs }: LocalPlatform["functionLimits"],
): string {
  const wallClock = `${wallClockMs / 1_000} s of wall clock`;
  if (cpu === null) return `${wallClock} per isolate; CPU time is unlimited`;
  const { softMs, hardMs } = cpu;
  const limits = `${wallClock} and ${hardMs} ms of CPU per isolate, no new requests ` +
    `after half of the wall clock or ${softMs} ms of CPU`;
  if (isCpuEnforced) return limits;
  return `${limits}; CPU time is not enforced: this system does not report it per thread`;
}
