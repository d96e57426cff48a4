import { sleep } from "../../platform/values/sleep.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";
import type { JobView } from "./job_schema.ts";
import { createTextFollower } from "./follow_text.ts";
import { type EventRange, readJob } from "./read_job.ts";

/** Interval between two reads of a watched job. */
const LOOK_EVERY_MS = 500;
/** Maximum number of events reported per read. */
const MAX_TOLD_EVENTS = 100;

/**
 * Waits until a task has ended or asks a person, or the time is up, and reports each event and
 * each piece of the task's text as progress.
 *
 * @param waitMs 0 reads once.
 * @throws SwarmError `TASK_NOT_FOUND`, `QUERY_INVALID`; the reason of the call's signal when it is aborted.
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
  let cursor = events.cursor;
  let toldCount = 0;
  let isWaiting = waitMs > 0;
  const followText = createTextFollower(taskId, context);
  while (isWaiting) {
    const now = await look({ cursor, limit: MAX_TOLD_EVENTS });
    cursor = now.next_cursor;
    await followText();
    for (const event of now.events) {
      context.progress(++toldCount, undefined, `${event.type} (task ${event.task_id})`);
    }
    isWaiting = !now.has_ended && now.open_reviews.length === 0 && performance.now() < deadlineMs;
    if (isWaiting) {
      await sleep(Math.min(LOOK_EVERY_MS, deadlineMs - performance.now()), context.signal);
    }
  }
  // Returns the events that were reported, too.
  return await look(events);
}
