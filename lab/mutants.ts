/**
 * `deno task mutants`: breaks the engine in many ways, one at a time, and says which checks notice
 * it. It takes up to an hour and is not part of the checks of a change.
 */
import { CommandError, runCommand } from "../scripts/cli/run_command.ts";
import { PROJECT_ROOT } from "../scripts/project_root.ts";
import { writeLine, writeProgress } from "../scripts/terminal.ts";
import { KeptVerdicts } from "./mutants/kept_verdicts.ts";
import { type Mutant, nameOf } from "./mutants/mutant.ts";
import { SOURCE_MUTANTS } from "./mutants/source_mutants.ts";
import { SQL_MUTANTS } from "./mutants/sql_mutants.ts";
import { type Check, CHECKS, type Verdict } from "./mutants/verdict.ts";

const GOAL_SHARE = 0.95;

/** Mutants of one kind, the check that judges them, and the command that runs it. */
interface Stage {
  readonly check: Check;
  readonly mutants: readonly Mutant[];
  readonly command: readonly string[];
}

/** A mutant that one of them notices is not judged by the next. */
const STAGES: readonly Stage[] = [
  { check: "pgtap", mutants: SQL_MUTANTS, command: ["native_checks.ts", "pgtap"] },
  { check: "model", mutants: SQL_MUTANTS, command: ["native_checks.ts", "model"] },
  { check: "tests", mutants: SOURCE_MUTANTS, command: ["copy_checks.ts", "tests"] },
  { check: "simulation", mutants: SQL_MUTANTS, command: ["simulated_checks.ts"] },
  { check: "simulation", mutants: SOURCE_MUTANTS, command: ["copy_checks.ts", "simulation"] },
  {
    check: "tests",
    mutants: SQL_MUTANTS.filter(({ tests }) => tests !== undefined),
    command: ["copy_checks.ts", "tests"],
  },
];

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
      check: {
        type: "string",
        placeholder: "NAME",
        help: `Run this check alone, on all of them: ${CHECKS.join(", ")}. ` +
          "Default: all, each on the mutants that none before has noticed.",
      },
      resume: { type: "boolean", help: "Keep the verdicts of the last run." },
      json: { type: "boolean", help: "Print the result as one line of JSON." },
    },
  },
  async ({ values: { only = "", check, resume = false, json: isJson = false } }) => {
    if (check !== undefined && !CHECKS.some((each) => each === check)) {
      throw new CommandError(`Cannot run the check "${check}": it is one of ${CHECKS.join(", ")}`);
    }
    const mutants = [...SQL_MUTANTS, ...SOURCE_MUTANTS].filter((each) =>
      nameOf(each).includes(only)
    );
    const verdicts = await KeptVerdicts.open(resume);
    for (const stage of STAGES.filter((each) => check === undefined || each.check === check)) {
      const names = stage.mutants.filter((each) => mutants.includes(each)).map(nameOf).filter(
        (name) =>
          !verdicts.has(name, stage.check) && (check !== undefined || !verdicts.isNoticed(name)),
      );
      let count = 0;
      for await (const verdict of run(stage, names)) {
        await verdicts.add(verdict);
        writeProgress(`${stage.check}: ${++count} of ${names.length}`);
      }
    }
    const asked = new Set(mutants.map(nameOf));
    const summary = summarize(mutants, verdicts.all.filter(({ name }) => asked.has(name)));
    if (isJson) writeLine(JSON.stringify(summary));
    else describe(summary);
    if (summary.share < GOAL_SHARE || summary.wronglyEquivalent.length > 0) Deno.exit(1);
  },
);

/** Runs a stage as a process of its own, which writes one verdict a line. */
async function* run({ command, check }: Stage, names: readonly string[]): AsyncGenerator<Verdict> {
  if (names.length === 0) return;
  const [script = "", ...options] = command;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-check", `lab/mutants/${script}`],
      ...options,
      JSON.stringify(names),
    ],
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
  if (!(await child.status).success) throw new Error(`${script} failed (${check})`);
}

interface Summary {
  /** Those that change something. */
  readonly mutants: number;
  readonly share: number;
  readonly checks: readonly {
    readonly check: string;
    readonly ran: number;
    readonly noticed: number;
  }[];
  readonly survivors: readonly string[];
  /** Mutants that are said to change nothing, but a check notices them. */
  readonly wronglyEquivalent: readonly string[];
  readonly verdicts: readonly Verdict[];
}

function summarize(mutants: readonly Mutant[], verdicts: readonly Verdict[]): Summary {
  const noticed = new Set(
    verdicts.filter(({ noticedBy }) => noticedBy !== null).map(({ name }) => name),
  );
  const judged = mutants.filter(({ isEquivalent }) => isEquivalent === undefined);
  const survivors = judged.map(nameOf).filter((name) => !noticed.has(name));
  const kinds = [["SQL", SQL_MUTANTS], ["TypeScript", SOURCE_MUTANTS]] as const;
  return {
    mutants: judged.length,
    share: 1 - survivors.length / Math.max(1, judged.length),
    checks: kinds.flatMap(([kind, of]) => {
      const names = new Set(of.filter((each) => judged.includes(each)).map(nameOf));
      return CHECKS.map((check) => {
        const of = verdicts.filter((each) => each.check === check && names.has(each.name));
        return {
          check: `${check} (${kind})`,
          ran: of.length,
          noticed: of.filter(({ noticedBy }) => noticedBy !== null).length,
        };
      });
    }).filter(({ ran }) => ran > 0),
    survivors,
    wronglyEquivalent: mutants.filter(({ isEquivalent }) => isEquivalent !== undefined).map(nameOf)
      .filter((name) => noticed.has(name)),
    verdicts,
  };
}

function describe({ mutants, checks, survivors, wronglyEquivalent, verdicts }: Summary): void {
  writeLine("| mutant | check | noticed by |\n| --- | --- | --- |");
  for (const { name, check, noticedBy } of verdicts) {
    writeLine(`| ${name} | ${check} | ${noticedBy?.split("\n")[0]?.slice(0, 80) ?? "nothing"} |`);
  }
  for (const { check, ran, noticed } of checks) writeLine(`${check}: ${noticed} of ${ran}`);
  writeLine(`${mutants - survivors.length} of ${mutants} are noticed`);
  for (const name of survivors) writeLine(`  survives: ${name}`);
  for (const name of wronglyEquivalent) writeLine(`  is noticed, so not equivalent: ${name}`);
}
