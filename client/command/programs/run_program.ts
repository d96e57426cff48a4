import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CommandError } from "../errors/command_error.ts";
import { installedManifest } from "../project/installed_manifest.ts";
import { compareVersions } from "../../compare_versions.ts";
import { DENO_VERSION } from "./deno_version.ts";
import { downloadProblem } from "./download_problem.ts";
import { endTogether, exitCodeOf, passSignals } from "./pass_signals.ts";
import { PROGRAMS } from "./programs.ts";
import { showDownloads } from "./show_downloads.ts";
import { writePrograms } from "./write_programs.ts";

/** Prints which Deno this is, and where. */
const ASK_DENO = [
  "eval",
  "console.log(JSON.stringify({ version: Deno.version.deno, path: Deno.execPath() }))",
];
const SOURCE = fileURLToPath(new URL("./programs", import.meta.url));

/**
 * Runs a program of the package in a project, with this process's terminal, and ends with its exit
 * code.
 *
 * @throws CommandError `NOT_INSTALLED`, `DENO_MISSING`, `PACKAGES_UNREACHABLE`
 */
export async function runProgram(
  root: string,
  name: keyof typeof PROGRAMS,
  args: readonly string[],
): Promise<void> {
  const manifest = await installedManifest(root, `run supaswarm ${name}`);
  const deno = await findDeno();
  const folder = await writePrograms(root, SOURCE, manifest, {
    prepare: (folder) => downloadPackages(deno, folder, args),
  });
  const entry = join(folder, PROGRAMS[name]?.entry ?? "");
  const child = spawn(
    deno,
    [
      "run",
      "--allow-all",
      "--quiet",
      "--config",
      join(folder, "deno.json"),
      entry,
      ...args,
    ],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, DENO_NO_PACKAGE_JSON: "1" },
      // The terminal would send it the same Ctrl-C a second time.
      detached: PROGRAMS[name]?.endsInOrder === true && process.platform !== "win32",
    },
  );
  passSignals(child);
  await new Promise<void>((resolve, reject) => {
    child.on("error", (cause) => reject(denoMissing(cause)));
    child.on("exit", (code, signal) => {
      process.exitCode = code ?? (signal === null ? 1 : exitCodeOf(signal));
      resolve();
    });
  });
}

/**
 * The executable of Deno: this process's own, an installed one that is new enough, or npm's. npx and
 * the scripts of npm's packages would not pass signals on, so that Deno would outlive this command.
 *
 * @throws CommandError `DENO_MISSING`, `PACKAGES_UNREACHABLE`
 */
async function findDeno(): Promise<string> {
  if ("Deno" in globalThis) return process.execPath;
  const installed = await installedDeno();
  if (installed !== null && compareVersions(installed.version, DENO_VERSION) >= 0) {
    return installed.path;
  }
  const npx = process.platform === "win32" ? "npx.cmd" : "npx";
  return readDeno(await outputOf(npx, ["--yes", `deno@${DENO_VERSION}`, ...ASK_DENO])).path;
}

/** Downloads what the programs import. @throws CommandError `PACKAGES_UNREACHABLE` */
async function downloadPackages(
  deno: string,
  folder: string,
  args: readonly string[],
): Promise<void> {
  const entries = Object.values(PROGRAMS).map(({ entry }) => join(folder, entry));
  const shown = showDownloads(args);
  try {
    await outputOf(deno, ["cache", "--config", join(folder, "deno.json"), ...entries], shown.add);
  } finally {
    shown.end();
  }
}

/** What a command prints that may download. @throws CommandError */
async function outputOf(
  command: string,
  args: readonly string[],
  onPrinted: (text: string) => void = () => {},
): Promise<string> {
  const running = promisify(execFile)(command, args, {
    env: { ...process.env, DENO_NO_PACKAGE_JSON: "1", NO_COLOR: "1" },
  });
  const release = endTogether(running.child);
  running.child.stderr?.on("data", onPrinted);
  try {
    return (await running).stdout;
  } catch (cause) {
    const { code, stderr = "" } = cause as { code: unknown; stderr?: string };
    if (code === "ENOENT") throw denoMissing(cause);
    const { message, hint } = downloadProblem(stderr);
    throw new CommandError("PACKAGES_UNREACHABLE", message, hint, { cause });
  } finally {
    release();
  }
}

async function installedDeno(): Promise<ReturnType<typeof readDeno> | null> {
  try {
    return readDeno((await promisify(execFile)("deno", ASK_DENO)).stdout);
  } catch {
    return null;
  }
}

function readDeno(printed: string): { readonly version: string; readonly path: string } {
  return JSON.parse(printed);
}

function denoMissing(cause: unknown): CommandError {
  return new CommandError(
    "DENO_MISSING",
    "Cannot start Deno, which runs this command",
    `Install Deno ${DENO_VERSION} or newer, or npm, which can get it.`,
    { cause },
  );
}
