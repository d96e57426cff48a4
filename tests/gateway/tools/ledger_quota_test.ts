import assert from "node:assert/strict";
import { callOf, noAbort, openToolFixture, userCaller } from "./tool_fixture.ts";

Deno.test("a caller whose ledger is full calls no tool, known or not, and adds nothing to the ledger", async () => {
  await using fixture = await openToolFixture();
  const { sql, gateway, createUser } = fixture;
  await sql`select private.register_servers(${
    sql.json([{ slug: "catalog", name: "Catalog", description: "x" }])
  })`;
  const [full, roomy] = [userCaller(await createUser()), userCaller(await createUser())];
  await sql`
    insert into private.quotas (name, user_id, amount) values ('ledger_bytes', ${full.userId}, 0)`;
  const call = (caller: typeof full, server: string, toolName: string) =>
    gateway.call(callOf({ server, toolName }, caller, { title: "x" }), noAbort());

  for (const [server, tool] of [["catalog", "create_conversation"], ["nowhere", "x"]] as const) {
    await assert.rejects(call(full, server, tool), { code: "QUOTA_EXCEEDED" }, server);
  }
  await call(roomy, "catalog", "create_conversation");

  const rows = await sql`select user_id from public.mcp_executions`;
  assert.deepEqual(rows.map((row) => row.user_id), [roomy.userId]);
});
