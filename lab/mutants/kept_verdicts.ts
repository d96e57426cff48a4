import { dirname, join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import type { Check, Verdict } from "./verdict.ts";

const PATH = join(PROJECT_ROOT, ".supaswarm", "mutants.jsonl");

/** The verdicts of a run, each written when it is known, so that an interrupted run can go on. */
export class KeptVerdicts {
  readonly #verdicts = new Map<string, Verdict>();

  private constructor(verdicts: readonly Verdict[]) {
    for (const each of verdicts) this.#verdicts.set(keyOf(each), each);
  }

  /** @param isResumed Whether the verdicts of the last run count. */
  static async open(isResumed: boolean): Promise<KeptVerdicts> {
    await Deno.mkdir(dirname(PATH), { recursive: true });
    if (!isResumed) await Deno.writeTextFile(PATH, "");
    const text = await Deno.readTextFile(PATH).catch(() => "");
    return new KeptVerdicts(
      text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line)),
    );
  }

  async add(verdict: Verdict): Promise<void> {
    this.#verdicts.set(keyOf(verdict), verdict);
    await Deno.writeTextFile(PATH, `${JSON.stringify(verdict)}\n`, { append: true });
  }

  get all(): readonly Verdict[] {
    return [...this.#verdicts.values()];
  }

  has(name: string, check: Check): boolean {
    return this.#verdicts.has(keyOf({ name, check }));
  }

  isNoticed(name: string): boolean {
    return this.all.some((each) => each.name === name && each.noticedBy !== null);
  }
}

function keyOf({ name, check }: Pick<Verdict, "name" | "check">): string {
  return `${check} ${name}`;
}
