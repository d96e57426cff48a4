import { cpus, loadavg, totalmem } from "node:os";

/** What the figures were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gib: number;
  /** Of the last minute, when it was asked. */
  readonly load: number;
  readonly os: string;
  readonly deno: string;
}

/** Describes this machine as it is now. */
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

/** One line for the head of a table. */
export function describeMachine({ cpu, cores, memory_gib, load, os, deno }: Machine): string {
  return `${cores} cores (${cpu}), ${memory_gib} GiB, ${os}, Deno ${deno}, load ${load}`;
}
