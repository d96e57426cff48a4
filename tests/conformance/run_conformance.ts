/** `deno task conformance`: the official suite against the endpoint, the proxy and the client. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "../../shared/vendor/zod.js";
import { runCommand } from "../../scripts/cli/run_command.ts";
import { loadYaml } from "../../scripts/deps.ts";
import { FULL_LOCK } from "../../scripts/locks/lock_files.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { green, red, writeLine, writeProgress } from "../../scripts/terminal.ts";
import { CONFORMANCE_SUITE } from "../deps.ts";
import { bootConformancePlatform } from "./conformance_platform.ts";
import { REVISIONS, runConformanceSuite, type SuiteRun } from "./conformance_suite.ts";

const EXPECTED_FAILURES = new URL("expected_failures.yaml", import.meta.url);
const LOCK = join(PROJECT_ROOT, FULL_LOCK);
const CLIENT = fileURLToPath(new URL("client.ts", import.meta.url));

/** Names of scenarios by run, and those that may pass unchecked. */
const expectedSchema = z.record(z.string(), z.array(z.string()));

await runCommand(
  {
    name: "deno task conformance",
    summary: "Runs the Model Context Protocol's official conformance suite.",
    options: {
      only: { type: "string", placeholder: "TEXT", help: "Only runs whose name has this text." },
      json: { type: "boolean", help: "Prints one line of JSON." },
    },
  },
  async ({ values }) => {
    const { parse } = await loadYaml();
    const expected = expectedSchema.parse(parse(await Deno.readTextFile(EXPECTED_FAILURES)));
    const runs = await runAll(values.only ?? "");
    const problems = Object.entries(runs)
      .flatMap(([name, run]) => problemsOf(name, run, expected));
    if (values.json) {
      writeLine(JSON.stringify({ suite: CONFORMANCE_SUITE.replace("npm:", ""), runs }));
    } else {
      for (const [run, { required, passed }] of Object.entries(runs)) {
        writeLine(`${run.padEnd(28)} ${passed} of ${required}`);
      }
      for (const problem of problems) writeLine(`${red("failed")}: ${problem}`);
    }
    if (problems.length > 0) throw new Error(`${problems.length} scenarios had unexpected results`);
    if (!values.json) writeLine(green("as expected"));
  },
);

async function runAll(only: string): Promise<Record<string, SuiteRun>> {
  await using platform = await bootConformancePlatform();
  const runs: Record<string, SuiteRun> = {};
  const command = `${Deno.execPath()} run -A --quiet --lock=${LOCK} ${CLIENT}`;
  for (const revision of REVISIONS) {
    const targets = {
      direct: { kind: "server", url: platform.directUrl },
      proxied: { kind: "server", url: platform.proxiedUrl },
      client: { kind: "client", command },
    } as const;
    for (const [path, target] of Object.entries(targets)) {
      const name = `${path}-${revision}`;
      if (!name.includes(only)) continue;
      writeProgress(`${name} …`);
      runs[name] = await runConformanceSuite(target, revision);
    }
  }
  return runs;
}

/** Both directions: unexpected failures, and expected failures that now pass. */
function problemsOf(
  name: string,
  { failures, unchecked, reasons }: SuiteRun,
  expected: z.infer<typeof expectedSchema>,
): string[] {
  const { [name]: mayFail = [], unchecked: mayBeUnchecked = [] } = expected;
  const surprising = [
    ...failures.filter((scenario) => !mayFail.includes(scenario)),
    ...unchecked.filter((scenario) => !mayBeUnchecked.includes(scenario)),
  ].map((scenario) => `${name} ${scenario}: ${reasons[scenario]}`);
  const stale = mayFail.filter((scenario) => !failures.includes(scenario))
    .map((scenario) => `${name} ${scenario}: expected to fail, and does not`);
  return [...surprising, ...stale];
}
