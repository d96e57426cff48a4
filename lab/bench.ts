/** `deno task bench <name>`: measures the platform and compares the figures with their targets. */
import type { BenchResult } from "./bench/bench_result.ts";
import { benchCancel } from "./bench/cancel.ts";
import { benchCatalog } from "./bench/catalog.ts";
import { benchCompaction } from "./bench/compaction.ts";
import { benchConsole } from "./bench/console.ts";
import { benchCost } from "./bench/cost.ts";
import { benchCpuMeter } from "./bench/cpu_meter.ts";
import { benchEdge } from "./bench/edge.ts";
import { benchEnqueue } from "./bench/enqueue.ts";
import { benchFairness } from "./bench/fairness.ts";
import { benchFanout } from "./bench/fanout.ts";
import { benchHalfYear } from "./bench/half_year.ts";
import { benchJobBytes } from "./bench/job_bytes.ts";
import { benchLearning } from "./bench/learning.ts";
import { benchLive } from "./bench/live.ts";
import { describeMachine, readMachine } from "./bench/machine.ts";
import { benchMcp } from "./bench/mcp.ts";
import { benchMemory } from "./bench/memory.ts";
import { benchNl2sql } from "./bench/nl2sql.ts";
import { benchParked } from "./bench/parked.ts";
import { benchPeers } from "./bench/peers.ts";
import { benchPickup } from "./bench/pickup.ts";
import { printResult } from "./bench/print_result.ts";
import { saveResult } from "./bench/result_file.ts";
import { benchQuoth, type MeasuredFigures } from "./bench/quoth.ts";
import { benchQuothSearch } from "./bench/quoth_search.ts";
import { benchRealtime } from "./bench/realtime.ts";
import { benchRecovery } from "./bench/recovery.ts";
import { benchResponse } from "./bench/response.ts";
import { benchSql } from "./bench/sql.ts";
import { benchSqlContext } from "./bench/sql_context.ts";
import { benchSoak } from "./bench/soak.ts";
import { benchSplitter } from "./bench/splitter.ts";
import { benchSteps } from "./bench/steps.ts";
import { benchTurns } from "./bench/turns.ts";
import { runCommand } from "../scripts/cli/run_command.ts";
import { writeLine } from "../scripts/terminal.ts";

/**
 * The benchmarks. Each takes the kind of database or its URL; `quoth` also takes the embedder, and
 * what to measure, and `turns` a copy of absurd.
 */
const BENCHES: Readonly<
  Record<
    string,
    (
      db: string,
      embedder: string | undefined,
      measured: MeasuredFigures,
      absurd: string | undefined,
    ) => Promise<BenchResult>
  >
> = {
  cancel: benchCancel,
  catalog: benchCatalog,
  compaction: benchCompaction,
  console: benchConsole,
  cost: benchCost,
  cpu_meter: benchCpuMeter,
  edge: benchEdge,
  enqueue: benchEnqueue,
  fairness: benchFairness,
  fanout: benchFanout,
  half_year: benchHalfYear,
  job_bytes: benchJobBytes,
  learning: benchLearning,
  live: benchLive,
  mcp: benchMcp,
  memory: benchMemory,
  nl2sql: benchNl2sql,
  parked: benchParked,
  peers: benchPeers,
  pickup: benchPickup,
  quoth: benchQuoth,
  quoth_search: benchQuothSearch,
  realtime: benchRealtime,
  recovery: benchRecovery,
  response: benchResponse,
  soak: benchSoak,
  splitter: benchSplitter,
  sql: benchSql,
  sql_context: benchSqlContext,
  steps: benchSteps,
  turns: (db, _embedder, _measured, absurd) => benchTurns(db, absurd),
};

await runCommand(
  {
    name: "deno task bench",
    summary: `Runs benchmarks: all, or some of ${Object.keys(BENCHES).join(", ")}.`,
    options: {
      db: { type: "string", placeholder: "native|pglite|URL", help: "Database. Default: native." },
      embedder: {
        type: "string",
        placeholder: "minilm|hash",
        help: "The embedder for quoth. Default: minilm.",
      },
      absurd: {
        type: "string",
        placeholder: "folder",
        help: "A clone of earendil-works/absurd at 0.4.0, for turns. Default: without it.",
      },
      json: { type: "boolean", help: "Print one line of JSON for each benchmark." },
      save: { type: "boolean", help: "Write docs/benchmarks.json and the page of figures." },
      gate: {
        type: "boolean",
        help: "Fail if a target is missed. quoth then searches only where it has targets.",
      },
    },
    positionals: "<name>…",
  },
  async ({ values, positionals }) => {
    const missed: string[] = [];
    for (const name of namesIn(positionals)) {
      const machine = readMachine();
      if (!values.json) writeLine(describeMachine(machine));
      const db = values.db ?? "native";
      const measured = values.gate && !values.save ? "targets" : "all";
      const result = await BENCHES[name]?.(db, values.embedder, measured, values.absurd);
      if (result === undefined) continue;
      if (!result.met) missed.push(name);
      if (values.save) {
        const kind = db.includes("://") ? "url" : db;
        await saveResult({ ...result, at: new Date().toISOString(), db: kind, machine });
      }
      if (values.json) {
        const { bench, figures, targets, met } = result;
        writeLine(JSON.stringify({ bench, figures, targets, met }));
      } else {
        printResult(result);
      }
    }
    if (values.gate && missed.length > 0) throw new Error(`Missed: ${missed.join(", ")}`);
  },
);

/** Rejects an unknown name before anything runs. */
function namesIn(positionals: readonly string[]): readonly string[] {
  const known = Object.keys(BENCHES);
  if (positionals.length === 1 && positionals[0] === "all") return known;
  const unknown = positionals.find((name) => !known.includes(name));
  if (positionals.length === 0 || unknown !== undefined) {
    const problem = unknown === undefined ? "pass a name" : `'${unknown}' does not exist`;
    throw new Error(`Cannot run benchmarks: ${problem}. Use all, or some of ${known.join(", ")}`);
  }
  return positionals;
}
