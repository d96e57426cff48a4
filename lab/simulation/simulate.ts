/**
 * `deno task simulate`: runs the engine in small worlds, each decided by its seed, and prints the
 * seeds whose world violates an invariant, with the shortest trace that was found.
 */
import { realNowMs } from "./virtual_globals.ts";
import { CommandError, runCommand } from "../../scripts/cli/run_command.ts";
import { writeLine, writeProgress } from "../../scripts/terminal.ts";
import { cpuSeconds } from "./cpu_seconds.ts";
import { KnownSeeds } from "./known_seeds.ts";
import type { MemoryDatabase } from "./memory_database.ts";
import { openWorldDatabase } from "./open_world_database.ts";
import { reduceWorld } from "./reduce.ts";
import { runWorld, type WorldReport } from "./world.ts";

const DEFAULT_MINUTES = 1;
/** Random seeds are below this. */
const MAX_SEED = 1_000_000_000;

interface FailedSeed {
  readonly seed: number;
  readonly violations: readonly string[];
  /** The disturbances without which it does not fail. */
  readonly needed: readonly string[];
  readonly trace: readonly string[];
}

await runCommand(
  {
    name: "deno task simulate",
    summary: "Runs the engine in simulated worlds and reports the seeds that violate an invariant.",
    options: {
      seeds: { type: "string", placeholder: "A..B", help: "Run the worlds of these seeds." },
      seed: { type: "string", placeholder: "N", help: "Run the world of one seed." },
      minutes: {
        type: "string",
        placeholder: "M",
        help: "Run new random seeds until M minutes are over, after --seeds. " +
          `Default: ${DEFAULT_MINUTES} without --seeds and --seed.`,
      },
      mutant: {
        type: "string",
        placeholder: "FILE",
        help: "Run this SQL before the worlds, to see whether they notice a broken engine.",
      },
      first: { type: "boolean", help: "Stop at the first seed that fails." },
      trace: { type: "boolean", help: "Print what happens in each world." },
      twice: {
        type: "boolean",
        help: "Run each world twice and compare the contents of all tables.",
      },
      json: { type: "boolean", help: "Print the result as one line of JSON." },
    },
  },
  async ({ values }) => {
    const { json: isJson = false, trace: isTraced = false, twice: isRepeated = false } = values;
    const known = await KnownSeeds.read();
    const planned = values.seeds ?? values.seed;
    const minutes = readMinutes(values.minutes) ??
      (planned === undefined ? DEFAULT_MINUTES : undefined);
    const seeds = planned === undefined ? [] : readSeeds(planned);
    const mutant = values.mutant === undefined ? "" : await Deno.readTextFile(values.mutant);
    const database = await openWorldDatabase(mutant);
    const began = { ms: realNowMs(), cpu: cpuSeconds() };
    const failed: FailedSeed[] = [];
    let count = 0;
    const run = async (seed: number) => {
      const report = await runWorld(database, seed, { isTraced, isHashed: isRepeated });
      count++;
      if (isTraced && !isJson) { for (const line of report.trace) writeLine(line); }
      if (isRepeated) await assertSame(database, report);
      if (mutant === "") known.note(seed, report.violations.length > 0);
      if (report.violations.length > 0) {
        const found = await explain(database, report);
        failed.push(found);
        if (!isJson) describe(found);
      }
      if (!isJson) writeProgress(`${count} worlds, ${failed.length} failed`);
      // One is enough to know that a mutant is noticed.
      return failed.length === 0 || (mutant === "" && !values.first);
    };
    for (const seed of seeds) if (!await run(seed)) break;
    const endsAtMs = began.ms + (minutes ?? 0) * 60_000;
    for (const seed of randomSeeds(known.failing)) {
      if (realNowMs() >= endsAtMs || !await run(seed)) break;
    }
    await known.write();
    const cpu = cpuSeconds() - began.cpu;
    const result = {
      seeds: count,
      failed,
      cpu_seconds: Math.round(cpu),
      seeds_per_cpu_minute: Math.round(60 * count / cpu),
      profile: profileOf(database),
    };
    if (isJson) writeLine(JSON.stringify(result));
    else {
      writeLine(
        `${count} worlds, ${failed.length} failed; ${result.seeds_per_cpu_minute} a CPU-minute`,
      );
    }
    if (failed.length > 0) Deno.exit(1);
  },
);

function readSeeds(text: string): number[] {
  const [, first, last = first] = /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(text) ?? [];
  const count = Number(last) - Number(first) + 1;
  if (first === undefined || count < 1) {
    throw new CommandError(`Cannot run the worlds: seeds are written 7 or 1..500, not "${text}"`);
  }
  return Array.from({ length: count }, (_, index) => Number(first) + index);
}

/** Seeds that failed before, then new ones without end. */
function* randomSeeds(failing: readonly number[]): Generator<number> {
  yield* failing;
  // Not Math.random(), which is the world's.
  const bytes = new Uint32Array(1);
  const urandom = Deno.openSync("/dev/urandom");
  while (true) {
    urandom.readSync(new Uint8Array(bytes.buffer));
    yield (bytes[0] ?? 0) % MAX_SEED;
  }
}

function readMinutes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const minutes = Number(text);
  if (minutes > 0) return minutes;
  throw new CommandError(`Cannot run the worlds: --minutes must be above 0, but is "${text}"`);
}

async function assertSame(database: MemoryDatabase, { seed, hash }: WorldReport): Promise<void> {
  const again = await runWorld(database, seed, { isHashed: true });
  if (again.hash !== hash) throw new Error(`Seed ${seed} gave different tables the second time`);
}

async function explain(database: MemoryDatabase, report: WorldReport): Promise<FailedSeed> {
  const { seed } = report;
  const { omitted, needed, name } = await reduceWorld(
    report,
    (without) => runWorld(database, seed, { omitted: without }),
  );
  const { trace, violations } = await runWorld(database, seed, { omitted, isTraced: true });
  const end = trace.findLastIndex((line) => line.includes("VIOLATED"));
  const texts = violations.filter((violation) => violation.name === name)
    .map(({ detail }) => `${name}: ${detail}`);
  return { seed, violations: texts, needed, trace: trace.slice(0, end + 1) };
}

function describe({ seed, violations, needed, trace }: FailedSeed): void {
  writeLine(`\nseed ${seed}`);
  for (const violation of violations) writeLine(`  violated: ${violation}`);
  writeLine(`  It needs ${needed.length} disturbances:`);
  for (const id of needed) writeLine(`    ${id}`);
  writeLine("  What happens:");
  for (const line of trace) writeLine(`    ${line.slice(0, 300)}`);
}

/** Where the time goes: the share of each kind of statement, in percent. */
function profileOf({ profile, figures }: MemoryDatabase): Record<string, number> {
  const percent = (ms: number) => Math.round(100 * ms / figures.sqlMs);
  return Object.fromEntries(
    [...profile].sort(([, one], [, other]) => other.ms - one.ms).slice(0, 8)
      .map(([name, { ms }]) => [name, percent(ms)]),
  );
}
