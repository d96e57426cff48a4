import assert from "node:assert/strict";
import type { JsonObject } from "../../shared/json.ts";
import { asJsonObject } from "../../shared/json.ts";
import type { AnsweredCall } from "../../shared/tool_contracts/tool_call.ts";
import type { ToolCaller } from "../../shared/tool_contracts/tool_caller.ts";
import { noAbort, type ToolFixture } from "./tool_fixture.ts";

/** An answered call with its structured content. */
export interface SupabaseAnswer extends AnsweredCall {
  readonly answer: JsonObject;
}

/** Registers the server `supabase`, as its first request does on a platform. */
export async function registerSupabase({ sql }: ToolFixture): Promise<void> {
  const registered = [{ slug: "supabase", name: "Supabase", description: "SQL" }];
  await sql`select private.register_servers(${sql.json(registered)})`;
}

/** Calls a tool of the server `supabase` through the gateway. */
export async function callSupabase(
  { gateway }: ToolFixture,
  caller: ToolCaller,
  toolName: string,
  args: JsonObject,
  idempotencyKey: string = crypto.randomUUID(),
): Promise<SupabaseAnswer> {
  const outcome = await gateway.call({
    server: "supabase",
    toolName,
    caller,
    arguments: args,
    attempt: 1,
    stepSeq: null,
    idempotencyKey,
    traceparent: null,
  }, noAbort());
  assert.ok(outcome.kind === "answered", outcome.kind);
  return { ...outcome, answer: asJsonObject(outcome.structured) };
}
