/**
 * Resident memory of this process and all its descendants in MiB, from `/proc`; null where there is
 * none. Shared pages count once for each process.
 */
export async function treeMemoryMib(): Promise<number | null> {
  const pids = await processTree();
  if (pids === null) return null;
  let sumKib = 0;
  for (const pid of pids) {
    const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
    sumKib += Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  }
  return Math.round(sumKib / 1024);
}

/**
 * Memory in MiB that a process of this machine shares with no other, from `/proc`; null where there
 * is none, or no such process.
 */
export async function privateMemoryMib(pid: number): Promise<number | null> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  const kib = /^RssAnon:\s+(\d+) kB/m.exec(status)?.[1];
  return kib === undefined ? null : Math.round(Number(kib) / 1024);
}

/** This process and all its descendants, from `/proc`; null where there is none. */
export async function processTree(): Promise<readonly number[] | null> {
  const parents = new Map<number, number>();
  try {
    for await (const { name } of Deno.readDir("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
      // The command's name may hold blanks; the parent is the second field after it.
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
