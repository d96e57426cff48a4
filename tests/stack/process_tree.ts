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
