import { cpus, loadavg, totalmem } from "node:os";

/** The machine that the figures were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gib: number;
  /** Load average of the last minute. */
  readonly load: number;
  readonly os: string;
  readonly deno: string;
}

/** Reads the facts of this machine. */
export function readMachine(): Machine {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model.trim() || Deno.build.arch,
    cores: navigator.hardwareConcurrency,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
    os: `${Deno.build.os} ${Deno.osRelease()}`,
    deno: Deno.version.deno,
  };
}

/** Describes the machine in one line. */
export function describeMachine({ cpu, cores, memory_gib, load, os, deno }: Machine): string {
  return `${cores} cores (${cpu}), ${memory_gib} GiB, ${os}, Deno ${deno}, load ${load}`;
}
