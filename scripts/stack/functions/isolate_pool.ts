import { FunctionFailure } from "./function_failure.ts";
import type { Isolate } from "./isolate.ts";
import { IsolateGeneration, type IsolateGenerationOptions } from "./isolate_generation.ts";

/** The isolates that take the functions' requests: one current for each function. */
export class IsolatePool {
  readonly #options: IsolateGenerationOptions;
  readonly #current = new Map<string, Isolate>();
  #generation: IsolateGeneration;
  /** Given up, but perhaps still at work. */
  readonly #oldGenerations: IsolateGeneration[] = [];
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
    const isolate = this.#usableGeneration().start({
      name,
      entry,
      onEnd: (ended) => {
        if (this.#current.get(name) === ended) this.#current.delete(name);
      },
    });
    this.#current.set(name, isolate);
    return isolate;
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
