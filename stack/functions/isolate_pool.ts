import { FunctionFailure } from "./function_failure.ts";
import type { Isolate } from "./isolate.ts";
import { IsolateGeneration, type IsolateGenerationOptions } from "./isolate_generation.ts";

/** What the isolates of one function have used, those that have ended included. */
export interface FunctionUsage {
  readonly isolateCount: number;
  /** CPU time, imports not counted; 0 where it cannot be read. */
  readonly cpuMs: number;
}

/** A function's isolates: those that run, and what the others had used at their end. */
interface Lives {
  readonly running: Set<Isolate>;
  endedCount: number;
  endedCpuMs: number;
}

/** The isolates that take the functions' requests: one current for each function. */
export class IsolatePool {
  readonly #options: IsolateGenerationOptions;
  readonly #current = new Map<string, Isolate>();
  #generation: IsolateGeneration;
  /** Given up, but perhaps still at work. */
  readonly #oldGenerations: IsolateGeneration[] = [];
  readonly #lives = new Map<string, Lives>();
  #isStopped = false;

  constructor(options: IsolateGenerationOptions) {
    this.#options = options;
    this.#generation = new IsolateGeneration(options);
  }

  /** The isolate that takes the function's next request, started when there is none. */
  acquire(name: string, entry: string): Isolate {
    if (this.#isStopped) {
      throw new FunctionFailure("FUNCTION_HOST_STOPPED", `Cannot run ${name}: the stack is ending`);
    }
    const current = this.#current.get(name);
    if (current?.isAccepting) return current;
    const lives = this.#livesOf(name);
    const isolate = this.#usableGeneration().start({
      name,
      entry,
      onEnd: (ended) => {
        lives.running.delete(ended);
        lives.endedCount += 1;
        lives.endedCpuMs += ended.cpuMs ?? 0;
        if (this.#current.get(name) === ended) this.#current.delete(name);
      },
    });
    this.#current.set(name, isolate);
    lives.running.add(isolate);
    return isolate;
  }

  /** What a function's isolates have used so far. */
  usageOf(name: string): FunctionUsage {
    const { running, endedCount, endedCpuMs } = this.#livesOf(name);
    const cpuMs = [...running].reduce((sum, isolate) => sum + (isolate.cpuMs ?? 0), endedCpuMs);
    return { isolateCount: endedCount + running.size, cpuMs };
  }

  #livesOf(name: string): Lives {
    const lives = this.#lives.get(name) ?? { running: new Set(), endedCount: 0, endedCpuMs: 0 };
    this.#lives.set(name, lives);
    return lives;
  }

  /** Retires all isolates: next requests are answered by the code as it is then. */
  retireAll(): void {
    this.#current.clear();
    this.#generation.retire();
  }

  /** Ends everything. */
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
