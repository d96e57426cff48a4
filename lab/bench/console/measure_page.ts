import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { percentile, type Target } from "../bench_result.ts";
import type { BenchPages, Frames } from "./open_pages.ts";
import { beginSteps, createTracedJob, endSteps, type TracedJob } from "./traced_job.ts";

/** Frames of a scroll from end to end: five seconds at 60 frames per second. */
const SCROLL_FRAMES = 300;
const STORM = { seconds: 5, eventsPerSecond: 200, batchesPerSecond: 20 };
/** Rows that end one by one. This many are visible beside earlier ended rows. */
const OPEN_ROWS = 12;
const BURSTS = 6;
const EVENT_EACH_MS = 80;

/** Two frames at 60 frames per second. */
const TWO_FRAMES_MS = 33.4;

/** Targets of the figures of {@linkcode measurePage}. Long tasks have no target. */
export const PAGE_TARGETS: Readonly<Record<string, Target>> = {
  first_rows_ms: { max: 500 },
  all_rows_ms: { max: 3_000 },
  scroll_frame_p95_ms: { max: 34 },
  trace_nodes: { max: 500 },
  storm_frame_p95_ms: { max: 34 },
  event_to_frame_p50_ms: { max: TWO_FRAMES_MS },
  event_to_frame_p95_ms: { max: 100 },
  event_to_frame_of_large_p50_ms: { max: TWO_FRAMES_MS },
  event_to_frame_of_large_p95_ms: { max: 100 },
};

/** Explanations of the figures. */
export const PAGE_NOTES: readonly string[] = [
  "In the machine's own Chromium, headless, 1280 × 800, after one round that warms it up. " +
  "`first_rows_ms`: from the answer with the first 1,000 of 10,000 steps to the drawn frame that " +
  "shows some of them; `all_rows_ms`: from the click in the list of jobs to the frame with all of " +
  "them, including eleven requests. Scrolling: end to end in " +
  `${SCROLL_FRAMES} moves, one per frame, so ` +
  "that every frame shows other rows. `trace_nodes`: the most elements in the tree.",
  `Storm: ${
    STORM.seconds * STORM.eventsPerSecond
  } events in ${STORM.seconds} s, that begin and end new steps of ` +
  "the job with 10,000 steps. Frames are times between animation frames; `idle` is the " +
  "same page before the storm. `storm_main_thread_share` is the part of the storm for which the " +
  "page's main thread had a processor, which a busy machine does not change. A long task is one of more than 50 ms.",
  "`event_to_frame`: by how much later the frame that shows a step as ended was drawn than the " +
  "callback of a bare `supabase-js` ran for the same event, in a page of its own in the same " +
  "browser; in a job of a few dozen steps, and (`of_large`) in the job of 10,000. Two frames are " +
  `${TWO_FRAMES_MS} ms. A frame counts as drawn when the browser's main thread has handed it over.`,
];

/** Milliseconds, nodes and counts, by the names that the benchmark prints. */
type PageFigures = Readonly<Record<string, number>>;

/** Input of a round of the page. */
export interface PageRound {
  readonly sql: Sql;
  readonly pages: BenchPages;
  readonly ownerId: string;
  /** Number of steps of the large job. */
  readonly steps: number;
}

/** Runs one round: opens and scrolls a large job, sends many events, and measures live updates. */
export async function measurePage({ sql, pages, ownerId, steps }: PageRound): Promise<PageFigures> {
  const { probe } = pages;
  const job = await createTracedJob(sql, { ownerId, steps });
  await showJobList(pages);
  const opening = await probe.openJob(job.id, steps + 1);
  const scroll = await probe.scrollThrough(SCROLL_FRAMES);
  const idle = await watchFrames(pages, () => pause(1_000));
  const usedBefore = await pages.mainThreadSeconds();
  const storm = await watchFrames(pages, () => sendStorm(sql, job));
  const stormCpu = await pages.mainThreadSeconds() - usedBefore;
  const large = await measureDelays(sql, pages, job);

  const small = await createTracedJob(sql, { ownerId, steps: OPEN_ROWS });
  await showJobList(pages);
  await probe.openJob(small.id, OPEN_ROWS + 1);
  const few = await measureDelays(sql, pages, small);
  return {
    ...opening,
    scroll_frame_p95_ms: percentile(scroll.frame_ms, 0.95),
    trace_nodes: scroll.nodes,
    idle_frame_p95_ms: percentile(idle.frame_ms, 0.95),
    storm_frame_p95_ms: percentile(storm.frame_ms, 0.95),
    storm_main_thread_share: stormCpu / STORM.seconds,
    storm_long_tasks: storm.long_task_ms.length,
    storm_longest_task_ms: Math.max(0, ...storm.long_task_ms),
    event_to_frame_p50_ms: percentile(few, 0.5),
    event_to_frame_p95_ms: percentile(few, 0.95),
    event_to_frame_of_large_p50_ms: percentile(large, 0.5),
    event_to_frame_of_large_p95_ms: percentile(large, 0.95),
  };
}

async function showJobList({ page }: BenchPages): Promise<void> {
  await page.evaluate(`location.hash = "#/jobs"`);
  await page.locator("[data-job]").first().waitFor();
}

async function watchFrames({ probe }: BenchPages, work: () => Promise<void>): Promise<Frames> {
  await probe.watchFrames();
  await work();
  return await probe.endFrames();
}

/** Starts and ends steps evenly over some seconds. */
async function sendStorm(sql: Sql, job: TracedJob): Promise<void> {
  const { seconds, eventsPerSecond, batchesPerSecond } = STORM;
  const batchMs = 1_000 / batchesPerSecond;
  const startedAtMs = performance.now();
  for (let batch = 0; batch < seconds * batchesPerSecond; batch++) {
    const steps = await beginSteps(sql, job, eventsPerSecond / batchesPerSecond / 2);
    await endSteps(sql, job, steps);
    await pause(startedAtMs + (batch + 1) * batchMs - performance.now());
  }
}

/**
 * Ends visible steps one by one. Returns for each how many milliseconds its frame was drawn after
 * the callback of a plain client in a separate page.
 */
async function measureDelays(
  sql: Sql,
  { page, probe, listener }: BenchPages,
  job: TracedJob,
): Promise<number[]> {
  await listener.follow(job.id);
  await page.locator("[data-live]").getByText("Live", { exact: true }).waitFor();
  const delays: number[] = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    const steps = await beginSteps(sql, job, OPEN_ROWS);
    await waitFor(async () => {
      await probe.scrollToEnd();
      return await probe.openRows() === OPEN_ROWS;
    }, { what: "the rows of steps that have begun" });
    await probe.watchEnds();
    for (const seq of steps) {
      await endSteps(sql, job, [seq]);
      await pause(EVENT_EACH_MS);
    }
    await waitFor(async () => await probe.openRows() === 0, { what: "the rows to end" });
    const [seen, heard] = [await probe.endsSeen(), await listener.endsHeard()];
    delays.push(...steps.map((seq) => delayOf(seen[`row-${job.id}:${seq}`], heard[seq])));
  }
  return delays;
}

function delayOf(seenAtMs: number | undefined, receivedAtMs: number | undefined): number {
  if (seenAtMs === undefined || receivedAtMs === undefined) {
    throw new Error("Cannot measure the delay: an event reached only one of the two pages");
  }
  return seenAtMs - receivedAtMs;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
