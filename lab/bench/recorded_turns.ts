/** The steps that checkpoint benchmarks write: turns of a model call and a tool call. */
import type { StepIntent } from "../../shared/engine/agent/planned_call.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { StepRecord } from "../../shared/engine/worker/task_store.ts";
import { AGENT } from "./queue_database.ts";

/** Size of a tool call's result. */
export const RESULT_BYTES = 4_096;

/** Returns the usage of each model call. */
export async function usageOfACall(sql: Sql): Promise<JsonObject> {
  const [agent] = await sql<{ provider_id: string }[]>`
    select provider_id from public.agents where slug = ${AGENT}`;
  return {
    provider_id: agent?.provider_id ?? null,
    model: "bench",
    input_tokens: 1_000,
    cached_input_tokens: 0,
    output_tokens: 100,
    key_source: "none",
  };
}

/** Odd steps are model calls. Even steps are their tool calls. */
export function intentOf(seq: number): StepIntent {
  return seq % 2 === 1
    ? { seq, kind: "model", name: "bench", call_id: null, input: null }
    : { seq, kind: "tool", name: "look", call_id: `call_${seq}`, input: { server: "desk" } };
}

/** Returns the result of a step. A model call includes its usage. */
export function resultOf(seq: number, usage: JsonObject): StepRecord {
  const intent = intentOf(seq);
  if (intent.kind !== "model") {
    const output = { text: "x".repeat(RESULT_BYTES), is_error: false };
    return { ...intent, state: "done", output };
  }
  const call = { call_id: `call_${seq + 1}`, name: "look", arguments: {} };
  const output = { text: "", tool_calls: [call], finish_reason: "tool_calls" };
  return { ...intent, state: "done", output, usage };
}
