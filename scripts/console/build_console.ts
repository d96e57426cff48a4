import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atExit } from "../../stack/at_exit.ts";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";

const CONSOLE_FOLDER = fileURLToPath(new URL("../../console", import.meta.url));
/** Folder of the built files. */
export const CONSOLE_DIST = join(CONSOLE_FOLDER, "dist");

/** Lock file of a build. Two concurrent builds would delete each other's files. */
const BUILD_LOCK = join(CONSOLE_FOLDER, ".build.lock");
const SOURCES = ["src", "public", "index.html", "vite.config.ts", "deno.json", "deno.lock"];
const SHARED_SOURCES = ["agents/schemas", "client", "shared"];

/** Builds the console, one process at a time. @throws Error with the output */
export async function buildConsole(): Promise<void> {
  using _lock = await lockBuild();
  await runBuild();
}

/** Builds the console if it is out of date, one process at a time, until `signal` aborts. */
export async function buildStaleConsole(signal?: AbortSignal): Promise<void> {
  using _lock = await lockBuild();
  signal?.throwIfAborted();
  if (await isConsoleStale()) await runBuild(signal);
}

async function lockBuild(): Promise<Disposable> {
  const lock = await Deno.open(BUILD_LOCK, { create: true, write: true });
  await lock.lock(true);
  return lock;
}

/** Installs the packages the first time. */
async function runBuild(signal?: AbortSignal): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "--cwd", CONSOLE_FOLDER, "build"],
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    ...definedOnly({ signal }),
  }).spawn();
  const release = atExit(() => child.kill("SIGTERM"));
  const { success, stdout, stderr } = await child.output().finally(release);
  if (success) return;
  const output = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
  throw new Error(`Cannot build the console:\n${output.trim()}`);
}

/** Whether there is a console: its sources, or in a package the built files. */
export async function hasConsole(): Promise<boolean> {
  return await hasSources() || await modifiedAt(join(CONSOLE_DIST, "index.html")) !== null;
}

async function hasSources(): Promise<boolean> {
  return await modifiedAt(join(CONSOLE_FOLDER, "index.html")) !== null;
}

/** Whether the console is not built, or a source is newer than the build. */
export async function isConsoleStale(): Promise<boolean> {
  if (!await hasSources()) return false;
  const builtAt = await modifiedAt(join(CONSOLE_DIST, "index.html"));
  if (builtAt === null) return true;
  const sources = [
    ...SOURCES.map((path) => join(CONSOLE_FOLDER, path)),
    ...SHARED_SOURCES.map((path) => join(CONSOLE_FOLDER, "..", path)),
  ];
  for (const source of sources) {
    if (await newestIn(source) > builtAt) return true;
  }
  return false;
}

async function newestIn(path: string): Promise<number> {
  const stat = await Deno.stat(path).catch(() => null);
  if (stat === null) return 0;
  let newest = stat.mtime?.getTime() ?? 0;
  if (!stat.isDirectory) return newest;
  for await (const { name } of Deno.readDir(path)) {
    newest = Math.max(newest, await newestIn(join(path, name)));
  }
  return newest;
}

async function modifiedAt(path: string): Promise<number | null> {
  const stat = await Deno.stat(path).catch(() => null);
  return stat?.mtime?.getTime() ?? null;
}
