import type { EdgeFunction } from "./find_functions.ts";
import type { FunctionConfig } from "./function_config.ts";
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

/** Options of {@linkcode IsolatePool}. */
export type IsolatePoolOptions = Omit<IsolateGenerationOptions, "config">;

/**
 * The isolates that serve the functions' requests. Each function has one current isolate; functions
 * whose imports are resolved alike share a process.
 */
export class IsolatePool {
  readonly #options: IsolatePoolOptions;
  readonly #current = new Map<string, Isolate>();
  /** By the key of their configuration. */
  readonly #generations = new Map<string, IsolateGeneration>();
  /** Generations that get no new isolates but may still be running some. */
  readonly #oldGenerations: IsolateGeneration[] = [];
  readonly #records = new Map<string, IsolateRecord>();
  #isStopped = false;

  constructor(options: IsolatePoolOptions) {
    this.#options = options;
  }

  /**
   * Starts the processes of these functions, and retires all isolates, so that the next requests run
   * the current code.
   */
  load(functions: Iterable<EdgeFunction>): void {
    if (this.#isStopped) return;
    const configs = new Map([...functions].map(({ config }) => [keyOf(config), config]));
    this.#current.clear();
    for (const [key, generation] of this.#generations) {
      if (configs.has(key)) generation.retire();
      else this.#close(key, generation);
    }
    for (const config of configs.values()) this.#usableGeneration(config);
  }

  /** Returns the isolate for the function's next request, and starts one if needed. */
  acquire(name: string, { entry, config }: EdgeFunction): Isolate {
    if (this.#isStopped) {
      throw new FunctionFailure(
        "FUNCTION_HOST_STOPPED",
        `Cannot run ${name}: the stack is stopping`,
      );
    }
    const current = this.#current.get(name);
    if (current?.isAccepting) return current;
    const record = this.#recordOf(name);
    const isolate = this.#usableGeneration(config).start({
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

  /** Stops all isolates and their processes. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#current.clear();
    const generations = [...this.#generations.values(), ...this.#oldGenerations];
    await Promise.all(generations.map((generation) => generation.stop()));
  }

  #usableGeneration(config: FunctionConfig | null): IsolateGeneration {
    const key = keyOf(config);
    const found = this.#generations.get(key);
    if (found?.isUsable) return found;
    if (found !== undefined) this.#oldGenerations.push(found);
    const generation = new IsolateGeneration({ ...this.#options, config });
    this.#generations.set(key, generation);
    return generation;
  }

  #close(key: string, generation: IsolateGeneration): void {
    generation.close();
    this.#generations.delete(key);
    this.#oldGenerations.push(generation);
  }
}

function keyOf(config: FunctionConfig | null): string {
  return config?.key ?? "";
}
