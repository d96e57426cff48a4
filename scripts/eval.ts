/** `deno task eval`: runs the tests of agents as jobs. */
import { join } from "node:path";
import { createSwarm } from "../client/create_swarm.ts";
import { withInstalledNames } from "../client/installed_names.ts";
import type { Sql } from "../shared/platform/db/sql_client.ts";
import { INTERRUPTED_EXIT_CODE } from "./cli/end_of_run.ts";
import { DATABASE_OPTION, findDatabaseUrl, findProject } from "./cli/find_database.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { usePlatform } from "./cli/use_database.ts";
import { CHOSEN_NAMES } from "./console/chosen_names.ts";
import { loadYaml, type YamlModule } from "./deps.ts";
import { addTest } from "./evals/add_test.ts";
import { signInEvalUser } from "./evals/eval_user.ts";
import { type ChosenModel, findRun } from "./evals/eval_store.ts";
import { evalsFileName, readEvals } from "./evals/read_evals.ts";
import { isPassed, type ReportedRun, runsToJson, runToText } from "./evals/report_run.ts";
import type { EvalClient } from "./evals/run_job.ts";
import { type AgentEvals, runEvals, type RunSettings } from "./evals/run_evals.ts";
import { definedOnly } from "../shared/platform/values/defined_only.ts";
import { testOfJob } from "../shared/engine/evals/test_of_job.ts";
import { readCompletedJob } from "./evals/read_completed_job.ts";
import type { TestResult } from "./evals/test_result.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { type Environment, readEnvironment } from "../stack/stack_environment.ts";
import { writeError, writeLine, writeProgress } from "./terminal.ts";

/** Exit codes: a failed test or a regression is a result, and anything else a failure to run. */
const FAILED = 1;
const NOT_RUN = 2;
const DEFAULT_JOB_COUNT = 4;
/** Long enough for an agent that hands off to others. */
const DEFAULT_LIMIT_SECONDS = 900;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

await runCommand(
  {
    name: "deno task eval",
    summary:
      "Runs the tests in agents/<slug>.evals.yaml as jobs: of the named agents, or of all. Exits with " +
      "1 if a job failed its test or a test regressed, with 2 if the tests could not run. " +
      "add <job>: adds a test that is made of a completed job.",
    positionals: "[agent …] | add <job>",
    options: {
      repeat: { type: "string", placeholder: "N", help: "Jobs of each test. Default: its own." },
      against: {
        type: "string",
        placeholder: "RUN",
        help:
          "Compare with a run: last, the number of a revision, a model (its last run), or the id of a run.",
      },
      model: {
        type: "string",
        placeholder: "NAME",
        help: "Test with this model. The agents stay as they are. Default: the agent's own.",
      },
      provider: {
        type: "string",
        placeholder: "NAME",
        help:
          "The model's provider. Default: the one that lists the model, else the agent's. Alone: with " +
          "its default model.",
      },
      jobs: {
        type: "string",
        placeholder: "N",
        help: `Jobs at a time. Default: ${DEFAULT_JOB_COUNT}.`,
      },
      timeout: {
        type: "string",
        placeholder: "SECONDS",
        help: `Cancel a job that takes longer; its test fails. Default: ${DEFAULT_LIMIT_SECONDS}.`,
      },
      name: { type: "string", placeholder: "TEXT", help: "With add: the name of the test." },
      folder: { type: "string", placeholder: "PATH", help: "The files. Default: agents." },
      db: DATABASE_OPTION,
      json: { type: "boolean", help: "Print the result as one line of JSON." },
    },
  },
  async ({ values, positionals }) => {
    const environment = await readEnvironment(PROJECT_ROOT);
    const folder = values.folder ?? join(PROJECT_ROOT, "agents");
    const yaml = await loadYaml();
    const [first, ...others] = positionals;
    const isAdding = first === "add";
    // What is wrong with the arguments and the files is found before anything runs.
    const evals = isAdding ? [] : await readEvals(folder, positionals, yaml);
    const repeatCount = values.repeat === undefined ? null : readCount("--repeat", values.repeat);
    const jobCount = readCount("--jobs", values.jobs ?? String(DEFAULT_JOB_COUNT));
    const limitSeconds = readCount("--timeout", values.timeout ?? String(DEFAULT_LIMIT_SECONDS));
    const url = await findDatabaseUrl(values.db, environment);
    const options = { maxConnections: 2, applicationName: "supaswarm eval" };
    return await usePlatform(url, options, async (sql) => {
      if (isAdding) return await add(sql, { taskIds: others, name: values.name, folder, yaml });
      const runs = await runAll(sql, environment, {
        evals: repeatCount === null ? evals : evals.map((one) => withRepeats(one, repeatCount)),
        against: values.against,
        settings: {
          jobCount,
          limitMs: limitSeconds * 1_000,
          model: readModel(values.model, values.provider),
        },
      });
      writeLine(values.json ? runsToJson(runs) : runs.map(runToText).join("\n\n"));
      return runs.every(isPassed) ? 0 : FAILED;
    });
  },
  NOT_RUN,
);

function withRepeats({ agent, tests }: AgentEvals, repeatCount: number): AgentEvals {
  return { agent, tests: tests.map((test) => ({ ...test, repeatCount })) };
}

/** Adds a test that is made of a job to the file of the job's agent. */
async function add(
  sql: Sql,
  { taskIds: [taskId, ...others], name, folder, yaml }: {
    readonly taskIds: readonly string[];
    readonly name: string | undefined;
    readonly folder: string;
    readonly yaml: YamlModule;
  },
): Promise<void> {
  if (taskId === undefined || others.length > 0 || !UUID.test(taskId)) {
    throw new CommandError(
      "Cannot add a test: write the id of one job, such as eval add 01a21c31-…",
    );
  }
  const { agent, job } = await readCompletedJob(sql, taskId);
  const test = testOfJob(job, name ?? `job ${taskId}`);
  const fileName = evalsFileName(agent);
  const path = join(folder, fileName);
  const text = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  await Deno.writeTextFile(path, addTest(text, fileName, test, yaml));
  writeLine(
    `Added "${test.description}" to ${path}. Read it before you commit it: only patterns of ` +
      "sensitive values were replaced.",
  );
}

async function runAll(
  sql: Sql,
  environment: Environment,
  { evals, settings, against }: {
    readonly evals: readonly AgentEvals[];
    readonly settings: Pick<RunSettings, "jobCount" | "limitMs" | "model">;
    readonly against: string | undefined;
  },
): Promise<readonly ReportedRun[]> {
  // Before anything runs: a wrong name should not cost a run.
  const earlier = await Promise.all(
    evals.map(({ agent }) => against === undefined ? null : findRun(sql, agent, against)),
  );
  const email = environment["SUPASWARM_EVALS_EMAIL"];
  const password = environment["SUPASWARM_EVALS_PASSWORD"] ?? "";
  using user = await signInEvalUser({
    ...await findProject(environment),
    person: email === undefined ? null : { email, password },
  }, sql);
  const client: EvalClient = {
    userId: user.id,
    swarm: createSwarm(user.client, CHOSEN_NAMES),
    supabase: withInstalledNames(user.client, CHOSEN_NAMES),
  };
  const interrupted = new AbortController();
  Deno.addSignalListener("SIGINT", () => {
    if (interrupted.signal.aborted) Deno.exit(INTERRUPTED_EXIT_CODE);
    writeError("Interrupted: the jobs are cancelled. Ctrl-C again ends without waiting for that.");
    interrupted.abort(new CommandError("The evals were interrupted"));
  });
  const runs: ReportedRun[] = [];
  for (const [index, one] of evals.entries()) {
    const finished = await runEvals(sql, client, one, {
      ...settings,
      signal: interrupted.signal,
      onResult: (result) => writeProgress(progressLine(one.agent, result)),
    });
    runs.push({ ...finished, against: earlier[index] ?? null });
  }
  return runs;
}

function progressLine(agent: string, { test, repeat, passed }: TestResult): string {
  return `${agent}: ${test}, job ${repeat}: ${passed ? "passed" : "failed"}`;
}

function readModel(model: string | undefined, provider: string | undefined): ChosenModel {
  if (model === undefined && provider === undefined) return null;
  if (model === "" || provider === "") {
    throw new CommandError("Cannot use an empty --model or --provider: write its name");
  }
  return definedOnly({ model, provider });
}

function readCount(option: string, text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new CommandError(`Cannot use ${option} "${text}": write a whole number from 1 to 9999`);
}
