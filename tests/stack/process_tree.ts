import { waitFor } from "../../scripts/wait_for.ts";

/** A first start builds its database; long, because only a failure waits this long. */
const START_LIMIT_MS = 300_000;

/** Ids of a process's children and their descendants. */
export async function descendants(pid: number): Promise<number[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-eo", "pid=,ppid="] }).output();
  const rows = new TextDecoder().decode(stdout).trim().split("\n").map((line) =>
    line.trim().split(/\s+/).map(Number)
  );
  const childrenOf = (parent: number): number[] =>
    rows.flatMap(([child = 0, ppid]) => ppid === parent ? [child, ...childrenOf(child)] : []);
  return childrenOf(pid);
}

/** Whether none of these processes is running. */
export async function areGone(pids: readonly number[]): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", { args: ["-eo", "pid="] }).output();
  const running = new Set(new TextDecoder().decode(stdout).trim().split(/\s+/).map(Number));
  return pids.every((pid) => !running.has(pid));
}

/**
 * Stops the embedded database of a process, as if the machine gave it no time, as soon as there is
 * one. Returns the id of the database's process.
 */
export async function freezeDatabase(pid: number): Promise<number> {
  const frozen = await findDescendant(pid, "pglite_child.ts");
  Deno.kill(frozen, "SIGSTOP");
  return frozen;
}

/** Waits until a process has a descendant whose command has this text, and returns its id. */
export async function findDescendant(pid: number, text: string): Promise<number> {
  return await waitFor(async () => {
    for (const child of await descendants(pid)) {
      const command = await Deno.readTextFile(`/proc/${child}/cmdline`).catch(() => "");
      if (command.includes(text)) return child;
    }
  }, { intervalMs: 1, timeoutMs: START_LIMIT_MS, what: `a process of ${text}` });
}
