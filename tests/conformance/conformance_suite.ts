import { join } from "node:path";
import { z } from "../../shared/vendor/zod.js";
import { CONFORMANCE_SUITE } from "../deps.ts";
import { judgeScenario, type Verdict } from "./judge_scenario.ts";

/** Revisions whose required scenarios the suite has frozen. */
export const REVISIONS = ["2026-07-28", "2025-11-25"] as const;

/** See {@linkcode REVISIONS}. */
export type Revision = (typeof REVISIONS)[number];

/** The target of one run of the suite. */
export type SuiteTarget =
  | { readonly kind: "server"; readonly url: string }
  /** Started once per scenario, with the address of the suite's server as its last argument. */
  | { readonly kind: "client"; readonly command: string };

/** The result of one run, for the scenarios that the revision requires. */
export interface SuiteRun {
  readonly required: number;
  readonly passed: number;
  readonly failed: number;
  /** Names, including the expected ones. */
  readonly failures: readonly string[];
  /** Names of passed scenarios in which the suite only warned or skipped, and checked nothing. */
  readonly unchecked: readonly string[];
  /** Why each of them failed or was not checked. */
  readonly reasons: Readonly<Record<string, string>>;
}

/**
 * For one scenario. Long, because the suite starts all clients at the same time, and only a failure
 * waits this long.
 */
const TIMEOUT_MS = 180_000;
const SCENARIO_LINE = /^ {2}- (\S+)$/;

const checksSchema = z.array(z.looseObject({
  id: z.string(),
  status: z.string(),
  errorMessage: z.string().optional(),
  details: z.unknown().optional(),
}));

/** Runs the suite's required scenarios and judges them by the recorded checks. */
export async function runConformanceSuite(
  target: SuiteTarget,
  revision: Revision,
): Promise<SuiteRun> {
  const required = (await listRequired(revision))[target.kind];
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-conformance-" });
  try {
    const what = target.kind === "server" ? ["--url", target.url] : ["--command", target.command];
    const { stdout, stderr } = await runProgram(
      [
        target.kind,
        ...what,
        "--requirements",
        revision,
        "--timeout",
        `${TIMEOUT_MS}`,
        "-o",
        folder,
      ],
      folder,
    );
    const verdicts = await readVerdicts(folder);
    const reasons: Record<string, string> = {};
    const failures: string[] = [];
    const unchecked: string[] = [];
    for (const scenario of required) {
      const verdict = verdicts.get(scenario) ??
        { kind: "failed" as const, reason: "the scenario did not run" };
      if (verdict.kind === "passed") continue;
      reasons[scenario] = verdict.reason;
      (verdict.kind === "failed" ? failures : unchecked).push(scenario);
    }
    if (verdicts.size === 0) throw new Error(`The suite ran nothing:\n${stdout}\n${stderr}`);
    const failed = failures.length;
    return {
      required: required.length,
      passed: required.length - failed,
      failed,
      failures,
      unchecked,
      reasons,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The required scenarios in the suite's own list. */
async function listRequired(
  revision: Revision,
): Promise<Record<SuiteTarget["kind"], readonly string[]>> {
  const { stdout } = await runProgram(["list", "--requirements", revision], Deno.cwd());
  const [scored = ""] = stdout.split("never scored");
  const [servers = "", clients = ""] = scored.split("Client scenarios");
  const namesIn = (text: string) =>
    text.split("\n").flatMap((line) => SCENARIO_LINE.exec(line)?.[1] ?? []);
  const required = { server: namesIn(servers), client: namesIn(clients) };
  if (required.server.length === 0 || required.client.length === 0) {
    throw new Error(`The suite lists no scenarios:\n${stdout}`);
  }
  return required;
}

async function runProgram(args: readonly string[], cwd: string) {
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "--quiet", CONFORMANCE_SUITE, ...args],
    cwd,
    stdin: "null",
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return { stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
}

/** By scenario; its folder is `[server-]<scenario>-<time>`, and a `/` in it is a subfolder. */
async function readVerdicts(folder: string): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  for await (const path of checkFiles(folder)) {
    const scenario = path.slice(folder.length + 1)
      .replace(/^(server|client)-/, "")
      .replace(/-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/, "");
    const checks = checksSchema.parse(JSON.parse(await Deno.readTextFile(path)));
    verdicts.set(scenario, judgeScenario(scenario, checks));
  }
  return verdicts;
}

async function* checkFiles(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* checkFiles(path);
    else if (name === "checks.json") yield path;
  }
}
