import assert from "node:assert/strict";
import { INTERNAL_SERVERS } from "../../shared/app/internal_servers.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { ToolCaller } from "../../shared/gateway/tool_contracts/tool_caller.ts";
import {
  callOf,
  noAbort,
  openToolFixture,
  type ToolFixture,
  userCaller,
} from "../gateway/tools/tool_fixture.ts";
import { longestStepMs, MAX_STEP_MS } from "./blocked_loop.ts";
import { type WorstCall, worstCalls } from "./worst_calls.ts";
import { WIDE_TABLE, WORST_READS } from "./worst_values.ts";

// The runner leaves the database's WebAssembly unoptimized, which this test would measure.
Deno.env.delete("DENO_V8_FLAGS");

Deno.test("no argument of a tool causes a long step of work", async (t) => {
  await using fixture = await openToolFixture();
  const caller = await callerOf(fixture);
  const known = await knownArguments(fixture, caller);
  let turn = 0;
  for (const [slug, loadServer] of Object.entries(INTERNAL_SERVERS)) {
    const { tools } = await loadServer();
    for (const { definition } of tools) {
      const toolName = definition.name;
      const call = (args: JsonObject) =>
        fixture.gateway.call(callOf({ server: slug, toolName }, caller, args), noAbort());
      await t.step(`${slug}.${toolName}`, async () => {
        // Modules that are imported on first use are imported now.
        await call({}).catch(() => {});
        const slow: Record<string, number> = {};
        const calls = [...worstCalls(definition, known, turn++), ...readsOf(toolName)];
        for (const { name, args } of calls) {
          const stepMs = await longestStepMs(() => call(args));
          if (stepMs > MAX_STEP_MS) slow[name] = Math.round(stepMs);
        }
        assert.deepEqual(slow, {}, "milliseconds of CPU time by argument and shape");
      });
    }
  }
});

/** A user with all scopes on a project with a wide table. */
async function callerOf({ sql, createUser }: ToolFixture): Promise<ToolCaller> {
  await sql.unsafe(WIDE_TABLE);
  const slugs = Object.keys(INTERNAL_SERVERS);
  const registered = slugs.map((slug) => ({ slug, name: slug, description: slug }));
  await sql`select private.register_servers(${sql.json(registered)})`;
  await sql`update public.mcp_policies set calls_per_minute = 1000000, burst_calls = 1000000`;
  await sql`
    insert into public.mcp_policies (mcp_name, calls_per_minute, burst_calls)
    select slug, 1000000, 1000000 from jsonb_array_elements_text(${sql.json(slugs)}) as slug`;
  const caller = userCaller(await createUser());
  await sql`select public.grant_scopes(${caller.userId}, '{admin:*}')`;
  return caller;
}

async function knownArguments(
  { gateway }: ToolFixture,
  caller: ToolCaller,
): Promise<JsonObject> {
  const conversation = await gateway.call(
    callOf({ server: "catalog", toolName: "create_conversation" }, caller, { title: "Long" }),
    noAbort(),
  );
  assert.ok(conversation.kind === "answered" && !conversation.isError);
  const { structured } = conversation;
  return { conversationId: String((structured as JsonObject).id), table: "wide_table" };
}

/** Statements whose result, and not whose text, is large. */
function readsOf(toolName: string): WorstCall[] {
  if (toolName !== "execute_sql") return [];
  return Object.entries(WORST_READS).flatMap(([name, sql]) =>
    [null, "csv", "json"].map((format) => ({
      name: `${name}, export ${format}`,
      args: { sql, dry_run: false, export: format },
    }))
  );
}
