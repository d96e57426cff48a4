import { z } from "../../vendor/zod.js";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { asOwner } from "../as_owner.ts";

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
