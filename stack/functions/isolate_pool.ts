import { FunctionFailure } from "./function_failure.ts";
import type { Isolate } from "./isolate.ts";
import { IsolateGeneration, type IsolateGenerationOptions } from "./isolate_generation.ts";

/** What the isolates of one function have used, including ended ones. */
export interface FunctionUsage {
  readonly isolateCount: number;
  /** CPU time without imports; 0 where it cannot be read. */
  readonly cpuMs: number;
}

/** A function's isolates: the running ones, and the usage of the ended ones. */
interface IsolateRecord {
  readonly running: Set<Isolate>;
  endedCount: number;
  endedCpuMs: number;
}

/** The isolates that serve the functions' requests. Each function has one current isolate. */
export class IsolatePool {
  readonly #options: IsolateGenerationOptions;
  readonly #current = new Map<string, Isolate>();
  #generation: IsolateGeneration;
  /** Generations that get no new isolates but may still be running some. */
  readonly #oldGenerations: IsolateGeneration[] = [];
  readonly #records = new Map<string, IsolateRecord>();
  #isStopped = false;

  constructor(options: IsolateGenerationOptions) {
    this.#options = options;
    this.#generation = new IsolateGeneration(options);
  }

  /** Returns the isolate for the function's next request, and starts one if needed. */
  acquire(name: string, entry: string): Isolate {
    if (this.#isStopped) {
      throw new FunctionFailure(
        "FUNCTION_HOST_STOPPED",
        `Cannot run ${name}: the stack is stopping`,
      );
    }
    const current = this.#current.get(name);
    if (current?.isAccepting) return current;
    const record = this.#recordOf(name);
    const isolate = this.#usableGeneration().start({
      name,
      entry,
      onEnd: (ended) => {
        record.running.delete(ended);
        record.endedCount += 1;
        record.endedCpuMs += ended.cpuMs ?? 0;
        if (this.#current.get(name) === ended) this.#current.delete(name);
      },
    });
    this.#current.set(name, isolate);
    record.running.add(isolate);
    return isolate;
  }

  /** Returns what a function's isolates have used so far. */
  usageOf(name: string): FunctionUsage {
    const { running, endedCount, endedCpuMs } = this.#recordOf(name);
    const cpuMs = [...running].reduce((sum, isolate) => sum + (isolate.cpuMs ?? 0), endedCpuMs);
    return { isolateCount: endedCount + running.size, cpuMs };
  }

  #recordOf(name: string): IsolateRecord {
    const record = this.#records.get(name) ?? { running: new Set(), endedCount: 0, endedCpuMs: 0 };
    this.#records.set(name, record);
    return record;
  }

  /** Retires all isolates, so that the next requests run the current code. */
  retireAll(): void {
    this.#current.clear();
    this.#generation.retire();
  }

  /** Stops all isolates and their processes. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#current.clear();
    const generations = [this.#generation, ...this.#oldGenerations];
    await Promise.all(generations.map((generation) => generation.stop()));
  }

  #usableGeneration(): IsolateGeneration {
    if (!this.#generation.isUsable) {
      this.#oldGenerations.push(this.#generation);
      this.#generation = new IsolateGeneration(this.#options);
    }
    return this.#generation;
  }
}
