/**
 * `deno task replay <folder> …`: replays answers of providers that others recorded in their public
 * test suites through our model adapters. The recordings stay where they are; nothing of them is in
 * this repository.
 */
import { CommandError, runCommand } from "../scripts/cli/run_command.ts";
import { formatTable } from "../scripts/sql/format_table.ts";
import { writeLine, writeProgress } from "../scripts/terminal.ts";
import { findRecordings } from "./replay/find_recordings.ts";
import { type Outcome, replayRecording } from "./replay/replay_recording.ts";

/** A streamed answer is read with pauses. */
const REPLAYS_AT_A_TIME = 16;

await runCommand(
  {
    name: "deno task replay",
    summary:
      "Replays recorded answers of model providers through our adapters: fixtures of the AI SDK " +
      "(*.json, *.chunks.txt) and VCR cassettes (*.yaml) in checkouts. Exits with 1 if one fails.",
    positionals: "<folder> …",
    options: { json: { type: "boolean", help: "Print each outcome as one line of JSON." } },
  },
  async ({ values, positionals }) => {
    if (positionals.length === 0) {
      throw new CommandError("Cannot replay: name a folder with recordings");
    }
    const outcomes: Outcome[] = [];
    const recordings = findRecordings(positionals);
    await Promise.all(Array.from({ length: REPLAYS_AT_A_TIME }, async () => {
      // All of them take from one iterator.
      for await (const recording of recordings) {
        outcomes.push(await replayRecording(recording));
        if (outcomes.length % 100 === 0) writeProgress(`${outcomes.length} recordings`);
      }
    }));
    if (values.json) outcomes.forEach((outcome) => writeLine(JSON.stringify(outcome)));
    else writeLine(report(outcomes));
    return outcomes.some(({ problem }) => problem !== null) ? 1 : 0;
  },
);

function report(outcomes: readonly Outcome[]): string {
  const byProvider = Map.groupBy(outcomes, ({ provider }) => provider);
  const rows = [...byProvider].sort(([one], [other]) => one.localeCompare(other))
    .map(([provider, own]) => ({ provider, ...counts(own) }));
  const failures = outcomes.filter(({ problem }) => problem !== null);
  const byProblem = Map.groupBy(failures, ({ problem }) => problem);
  return [
    formatTable([...rows, { provider: "total", ...counts(outcomes) }]),
    ...[...byProblem].map(([problem, own]) =>
      [`\n${own.length} × ${problem}`, ...own.map(({ name }) => `  ${name}`)].join("\n")
    ),
  ].join("\n");
}

function counts(outcomes: readonly Outcome[]) {
  const passed = outcomes.filter(({ problem }) => problem === null).length;
  return { passed, failed: outcomes.length - passed, recordings: outcomes.length };
}
