import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { asJsonObject } from "../../../shared/platform/values/json.ts";
import type { AnsweredCall } from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { ToolCaller } from "../../../shared/gateway/tool_contracts/tool_caller.ts";
import { answerOf, callOf, type ToolFixture } from "../../gateway/tools/tool_fixture.ts";

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
  const request = callOf({ server: "supabase", toolName }, caller, args);
  const outcome = await answerOf(gateway, { ...request, idempotencyKey });
  return { ...outcome, answer: asJsonObject(outcome.structured) };
}
