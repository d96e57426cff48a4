import { sleep } from "../../sleep.ts";
import type { ToolContext } from "../../tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";
import type { JobView } from "./job_schema.ts";
import { type EventRange, readJob } from "./read_job.ts";

/** How often a job that is watched is looked at. */
const LOOK_EVERY_MS = 500;
/** Events of one look that are told. */
const MAX_TOLD_EVENTS = 100;

/**
 * Waits until a task has ended or asks a person, or the time is up, and tells each event on the
 * way as progress.
 *
 * @param waitMs 0 looks once.
 * @throws SwarmError `TASK_NOT_FOUND`; the reason of the call's signal when it is aborted.
 */
export async function watchJob(
  taskId: string,
  events: EventRange,
  waitMs: number,
  context: ToolContext,
): Promise<JobView> {
  const look = (range: EventRange) =>
    asOwner(context, "read", (sql) => readJob(sql, taskId, range));
  const deadlineMs = performance.now() + waitMs;
  let seenId = events.after;
  let toldCount = 0;
  let isWaiting = waitMs > 0;
  while (isWaiting) {
    const now = await look({ after: seenId, limit: MAX_TOLD_EVENTS });
    for (const event of now.events) {
      context.progress(++toldCount, undefined, `${event.type} (task ${event.task_id})`);
      seenId = event.id;
    }
    isWaiting = !now.has_ended && now.open_reviews.length === 0 && performance.now() < deadlineMs;
    if (isWaiting) {
      await sleep(Math.min(LOOK_EVERY_MS, deadlineMs - performance.now()), context.signal);
    }
  }
  // From the beginning: events can become visible out of the order of their ids.
  return await look(events);
}
