import { z } from "../../vendor/zod.js";
import { defineTool, type ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { type JobView, jobView } from "./job_schema.ts";
import { SWARM_SCOPES } from "./swarm_scopes.ts";
import { asOwner } from "../as_owner.ts";
import { sleep } from "../../platform/values/sleep.ts";
import { type EventRange, readJob } from "./read_job.ts";

/** Less than the maximum duration of a call. */
const MAX_WAIT_SECONDS = 50;

/** Shows a task and optionally waits for it. */
export const getTaskTool = defineTool({
  name: "get_task",
  title: "Watch a task",
  description:
    "Shows a task: status, result, open questions to a person and events so far. For a master " +
    "task, questions and events are those of the whole job. With wait_seconds it waits until the " +
    "task has ended or asks a person, and reports each event and the text that the task's model " +
    "writes as progress. Call it again while has_ended is false or has_more_events is true; pass " +
    "next_cursor as cursor to read only new events.",
  version: "1",
  scopes: SWARM_SCOPES,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    task_id: z.guid(),
    wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).default(0),
    cursor: z.string().nullable().default(null)
      .describe("next_cursor of the previous call for this task, unchanged; null reads all events"),
    max_events: z.int().min(0).max(200).default(50),
  }),
  output: jobView,
  async run({ task_id, wait_seconds, cursor, max_events }, context) {
    return await watchJob(task_id, { cursor, limit: max_events }, wait_seconds * 1_000, context);
  },
});

/** Well below the minute for which a job is marked as watched, unless an operator sets less. */
const RENEW_EVERY_MS = 10_000;
/** A piece can become visible after pieces that were sent later. */
const OVERLAP_SECONDS = 3;

const pieceRow = z.object({
  id: z.string(),
  step_seq: z.int(),
  text_offset: z.int(),
  text: z.string(),
});

/**
 * Streams a task's text to the caller while its models write it. The job is marked as watched, so
 * that models stream; a model call that started before does not.
 *
 * @returns a function that sends the new text. Call it periodically, after checking that the caller
 * may see the task. It does nothing for agents and for callers that do not stream.
 */
export function createTextFollower(taskId: string, context: ToolContext): () => Promise<void> {
  const { streamText, caller } = context;
  if (streamText === null || caller.taskId !== null || caller.agentId !== null) {
    return () => Promise.resolve();
  }
  const seenIds = new Set<string>();
  let renewAtMs = -Infinity;
  let readAtMs = performance.now();
  let step = { seq: 0, length: 0 };
  return async () => {
    const nowMs = performance.now();
    if (nowMs >= renewAtMs) {
      await asOwner(context, "write", (sql) => sql`select public.watch_task(${taskId}::uuid)`);
      renewAtMs = nowMs + RENEW_EVERY_MS;
    }
    const seconds = (nowMs - readAtMs) / 1_000 + OVERLAP_SECONDS;
    readAtMs = nowMs;
    const rows = await context.sql`
      select id, step_seq, text_offset, text
      from private.streamed_text(${taskId}::uuid, ${seconds}::float8)`;
    for (const { id, step_seq: seq, text_offset: offset, text } of pieceRow.array().parse(rows)) {
      if (seenIds.has(id)) continue;
      seenIds.add(id);
      const isSameAnswer = seq === step.seq && offset >= step.length;
      streamText({ text, isRestart: step.seq !== 0 && !isSameAnswer });
      step = { seq, length: offset + text.length };
    }
  };
}

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
async function watchJob(
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
