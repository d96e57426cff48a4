/**
 * Returns the private memory of a process in MiB, from `/proc`, or null without `/proc` or without
 * the process.
 */
export async function privateMemoryMib(pid: number): Promise<number | null> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  const kib = /^RssAnon:\s+(\d+) kB/m.exec(status)?.[1];
  return kib === undefined ? null : Math.round(Number(kib) / 1024);
}

/** Returns this process and all its descendants, from `/proc`, or null without `/proc`. */
export async function processTree(): Promise<readonly number[] | null> {
  const parents = new Map<number, number>();
  try {
    for await (const { name } of Deno.readDir("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
      // The command's name may contain blanks. The parent is the second field after it.
      const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
      if (parent !== undefined) parents.set(Number(name), Number(parent));
    }
  } catch {
    return null;
  }
  return [Deno.pid, ...descendants(Deno.pid, parents)];
}

function descendants(root: number, parents: ReadonlyMap<number, number>): number[] {
  const children = [...parents].filter(([, parent]) => parent === root).map(([pid]) => pid);
  return children.flatMap((pid) => [pid, ...descendants(pid, parents)]);
}
