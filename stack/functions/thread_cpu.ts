/**
 * Finds the threads of isolates in their process. Deno names the thread of a worker `worker-<n>`
 * with increasing n. V8's helper threads (garbage collection, compilation) have other names.
 */
export class IsolateThreads {
  readonly #pid: number;
  readonly #known = new Set<string>();

  constructor(pid: number) {
    this.#pid = pid;
  }

  /**
   * Returns the thread of the isolate that was started last, or null where the operating system
   * does not list threads with their CPU time. Returns each thread only once.
   */
  claimNewest(): number | null {
    let newest: { readonly tid: string; readonly count: number } | null = null;
    for (const tid of this.#list()) {
      if (this.#known.has(tid)) continue;
      const count = workerCount(readText(`/proc/${this.#pid}/task/${tid}/comm`));
      this.#known.add(tid);
      if (count !== null && count > (newest?.count ?? 0)) newest = { tid, count };
    }
    return newest === null ? null : Number(newest.tid);
  }

  /** Returns the CPU time of the thread in milliseconds, or null when the thread has ended. */
  readCpuMs(tid: number): number | null {
    return parseCpuMs(readText(`/proc/${this.#pid}/task/${tid}/schedstat`));
  }

  #list(): readonly string[] {
    try {
      return [...Deno.readDirSync(`/proc/${this.#pid}/task`)].map(({ name }) => name);
    } catch {
      return [];
    }
  }
}

/** Whether this machine reports the CPU time of each thread. Linux does. */
export function canReadThreadCpu(): boolean {
  return parseCpuMs(readText(`/proc/${Deno.pid}/task/${Deno.pid}/schedstat`)) !== null;
}

function workerCount(threadName: string | null): number | null {
  const count = threadName?.match(/^worker-(\d+)$/)?.[1];
  return count === undefined ? null : Number(count);
}

/** Parses `schedstat`. Its first number is the time on a processor, in nanoseconds. */
function parseCpuMs(schedstat: string | null): number | null {
  const nanoseconds = Number(schedstat?.split(" ", 1)[0] ?? Number.NaN);
  return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : null;
}

function readText(path: string): string | null {
  try {
    return Deno.readTextFileSync(path).trim();
  } catch {
    return null;
  }
}
