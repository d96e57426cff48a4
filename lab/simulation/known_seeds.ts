import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

const PATH = join(PROJECT_ROOT, ".supaswarm", "failing_seeds.json");
const MAX_KEPT = 50;

/** The seeds that failed in this checkout and have not passed since. They run first. */
export class KnownSeeds {
  readonly #failing: Set<number>;

  private constructor(failing: readonly number[]) {
    this.#failing = new Set(failing);
  }

  static async read(): Promise<KnownSeeds> {
    const text = await Deno.readTextFile(PATH).catch(() => "[]");
    return new KnownSeeds(JSON.parse(text));
  }

  get failing(): readonly number[] {
    return [...this.#failing];
  }

  note(seed: number, hasFailed: boolean): void {
    if (hasFailed) this.#failing.add(seed);
    else this.#failing.delete(seed);
  }

  async write(): Promise<void> {
    await Deno.writeTextFile(PATH, JSON.stringify(this.failing.slice(-MAX_KEPT)));
  }
}
