import { signUp } from "../../scripts/demo/user_client.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { type BenchPages, openPages } from "./console/open_pages.ts";
import { createTracedJob, type TracedJob } from "./console/traced_job.ts";
import { startMeasuredStack } from "./measured_stack.ts";
import { serverVersion } from "./server_version.ts";

const EVENTS = 10_000;
/** Begins and ends that one transaction emits. */
const BATCH_EVENTS = 20;
const EVENTS_PER_SECOND = 40;
/** The steps to which the events belong: as many as fit on a page, so that the data does not grow. */
const STEPS = 500;
/** Events before the first sample: they compile code and fill caches. */
const WARM_EVENTS = 1_000;
const SAMPLES = 9;
const BYTES_PER_MIB = 1_048_576;

const NOTES = [
  `${EVENTS} events of ${STEPS} steps, ${EVENTS_PER_SECOND} a second, arrive at the open page of a ` +
  "job in the machine's own Chromium. The heap is measured after a collection, first after " +
  `${WARM_EVENTS} events and then ${SAMPLES - 1} times until the last one; ` +
  "`growth_mib` is what the last third of the samples has on average above the first third.",
];

/**
 * The memory of the console's page of a job while many live events arrive.
 *
 * @throws Error when there is no Chromium.
 */
export async function benchLive(db: string): Promise<BenchResult> {
  await using platform = await startMeasuredStack(db);
  const { stack, sql } = platform;
  const user = await signUp(stack, "ada");
  const { data } = await user.client.auth.getUser(user.accessToken);
  if (data.user === null) throw new Error("Cannot find the user who signed up");
  const job = await createTracedJob(sql, { ownerId: data.user.id, steps: STEPS });
  await using pages = await openPages(stack, user);
  await pages.probe.openJob(job.id, STEPS + 1);

  const startedAt = performance.now();
  const heaps: number[] = [];
  const nodes: number[] = [];
  let sent = 0;
  const each = (EVENTS - WARM_EVENTS) / (SAMPLES - 1);
  for (let sample = 0; sample < SAMPLES; sample++) {
    const until = WARM_EVENTS + Math.round(sample * each);
    for (; sent < until; sent += BATCH_EVENTS) {
      await emitBatch(sql, job, sent);
      const dueMs = (sent + BATCH_EVENTS) / EVENTS_PER_SECOND * 1_000;
      await pause(dueMs - (performance.now() - startedAt));
    }
    const memory = await memoryOf(pages);
    heaps.push(memory.heapMib);
    nodes.push(memory.nodes);
  }
  const third = Math.floor(SAMPLES / 3);
  const growth = mean(heaps.slice(-third)) - mean(heaps.slice(0, third));
  return judge(
    "live",
    {
      events: EVENTS,
      seconds: Math.round((performance.now() - startedAt) / 1_000),
      first_heap_mib: rounded(heaps[0] ?? Number.NaN),
      last_heap_mib: rounded(heaps.at(-1) ?? Number.NaN),
      growth_mib: rounded(growth),
      first_nodes: nodes[0] ?? Number.NaN,
      last_nodes: nodes.at(-1) ?? Number.NaN,
    },
    { growth_mib: { max: 2 } },
    { versions: { ...await serverVersion(sql), chromium: pages.browserVersion }, notes: NOTES },
  );
}

/** Begins and ends steps that have ended, as a worker does that repeats them. */
async function emitBatch(sql: Sql, job: TracedJob, from: number): Promise<void> {
  await sql`
    select private.emit_events(array_agg(
      row(
        ${job.id}::uuid, ${job.id}::uuid, event.type,
        jsonb_build_object('step_seq', (${from}::int + n) % ${STEPS}::int + 1, 'name', 'search')
      )::private.task_event
      order by n, place
    ))
    from generate_series(1, ${BATCH_EVENTS / 2}::int) as n
    cross join (values ('tool.started', 1), ('tool.completed', 2)) as event (type, place)`;
}

async function memoryOf({ page }: BenchPages): Promise<{ heapMib: number; nodes: number }> {
  const debugging = await page.context().newCDPSession(page);
  await debugging.send("HeapProfiler.collectGarbage");
  const { usedSize } = await debugging.send("Runtime.getHeapUsage");
  await debugging.send("Performance.enable");
  const { metrics } = await debugging.send("Performance.getMetrics");
  await debugging.detach();
  const nodes = metrics.find(({ name }) => name === "Nodes")?.value ?? Number.NaN;
  return { heapMib: usedSize / BYTES_PER_MIB, nodes };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function pause(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
