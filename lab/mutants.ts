/**
 * `deno task mutants`: breaks the engine in many ways, one at a time, and says which checks notice
 * it. It takes an hour and is not part of the checks of a change.
 */
import { runCommand } from "../scripts/cli/run_command.ts";
import { PROJECT_ROOT } from "../scripts/project_root.ts";
import { writeLine, writeProgress } from "../scripts/terminal.ts";
import { checkSourceMutants } from "./mutants/check_source_mutants.ts";
import { nameOf } from "./mutants/mutant.ts";
import { SOURCE_MUTANTS } from "./mutants/source_mutants.ts";
import { SQL_MUTANTS } from "./mutants/sql_mutants.ts";
import type { Verdict } from "./mutants/verdict.ts";

const GOAL_SHARE = 0.95;

await runCommand(
  {
    name: "deno task mutants",
    summary: "Breaks the engine in many ways, and says which checks notice it.",
    options: {
      only: {
        type: "string",
        placeholder: "TEXT",
        help: "Run the mutants with this in their names.",
      },
      json: { type: "boolean", help: "Print the result as one line of JSON." },
    },
  },
  async ({ values: { only = "", json: isJson = false } }) => {
    const mutants = [...SQL_MUTANTS, ...SOURCE_MUTANTS].filter((each) =>
      nameOf(each).includes(only)
    );
    const verdicts = new Map<string, Verdict>();
    const note = (verdict: Verdict) => {
      verdicts.set(verdict.name, { ...verdicts.get(verdict.name), ...verdict });
      writeProgress(`${verdicts.size} of ${mutants.length}: ${verdict.name}`);
    };
    for (const script of ["native_checks.ts", "simulated_checks.ts"]) {
      for await (const verdict of verdictsOf(script, only)) note(verdict);
    }
    const sources = SOURCE_MUTANTS.filter((each) => nameOf(each).includes(only));
    for await (const verdict of checkSourceMutants(sources)) note(verdict);

    const isNoticed = ({ simulation, model, tests }: Verdict) =>
      [simulation, model, tests].some((how) => typeof how === "string");
    const judged = mutants.filter(({ isEquivalent }) => isEquivalent === undefined);
    const survivors = judged.filter((each) => {
      const verdict = verdicts.get(nameOf(each));
      return verdict === undefined || !isNoticed(verdict);
    }).map(nameOf);
    const share = 1 - survivors.length / Math.max(1, judged.length);
    if (isJson) {
      writeLine(
        JSON.stringify({
          mutants: judged.length,
          share,
          survivors,
          verdicts: [...verdicts.values()],
        }),
      );
    } else {
      writeLine("| mutant | simulation | model | tests |\n| --- | --- | --- | --- |");
      for (const { name, simulation, model, tests } of verdicts.values()) {
        const cells = [simulation, model, tests].map((how) =>
          how === undefined ? "" : how === null ? "no" : how.split("\n")[0]?.slice(0, 80)
        );
        writeLine(`| ${[name, ...cells].join(" | ")} |`);
      }
      writeLine(`${judged.length - survivors.length} of ${judged.length} are noticed`);
      for (const name of survivors) writeLine(`  survives: ${name}`);
    }
    if (share < GOAL_SHARE) Deno.exit(1);
  },
);

/** Runs a script of checks, which writes one verdict a line. */
async function* verdictsOf(script: string, only: string): AsyncGenerator<Verdict> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", `lab/mutants/${script}`, only],
    cwd: PROJECT_ROOT,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let rest = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) yield JSON.parse(line);
  }
  if (!(await child.status).success) throw new Error(`${script} failed`);
}
