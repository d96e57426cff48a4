import { join } from "node:path";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { writeProgress } from "../../../scripts/terminal.ts";

const PACKAGE_FILE = new URL("package.json", import.meta.url);
const WORKER_FILE = new URL("peer_worker.mjs", import.meta.url);

/** The installed peers. */
export interface Peers {
  /** Path of a Node version that all of them support. */
  readonly nodePath: string;
  /** Path of the worker's program, beside its packages. */
  readonly workerPath: string;
  /** Exact versions by package. */
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * Installs the peers into `.supaswarm/bench/peers` with npm, unless they are already installed.
 *
 * @throws Error with npm's output when it fails.
 */
export async function installPeers(): Promise<Peers> {
  const folder = join(PROJECT_ROOT, ".supaswarm", "bench", "peers");
  const wanted = await Deno.readTextFile(PACKAGE_FILE);
  const stamp = join(folder, "installed.json");
  const installed = await Deno.readTextFile(stamp).catch(() => "");
  if (installed !== wanted) {
    writeProgress("Installing the peers with npm");
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(join(folder, "package.json"), wanted);
    await runNpm(folder);
    await Deno.writeTextFile(stamp, wanted);
  }
  const workerPath = join(folder, "peer_worker.mjs");
  await Deno.copyFile(WORKER_FILE, workerPath);
  return {
    nodePath: join(folder, "node_modules", "node", "bin", "node"),
    workerPath,
    versions: JSON.parse(wanted).dependencies,
  };
}

async function runNpm(folder: string): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command("npm", {
    args: ["install", "--no-package-lock", "--no-audit", "--no-fund"],
    cwd: folder,
    stdin: "null",
  }).output().catch((cause) => {
    throw new Error("Cannot install the peers: there is no npm on this machine", { cause });
  });
  if (success) return;
  const decoder = new TextDecoder();
  throw new Error(
    `Cannot install the peers: ${decoder.decode(stderr) || decoder.decode(stdout)}`.trim(),
  );
}
