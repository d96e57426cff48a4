import assert from "node:assert/strict";
import type { ToolCaller } from "../../../../shared/gateway/tool_contracts/tool_caller.ts";
import { waitFor } from "../../../../scripts/wait_for.ts";
import { noAbort, nobody } from "../tool_fixture.ts";
import { gatewayTest, registerServer } from "./gateway_claims.ts";

gatewayTest("two tenants find none of each other's data anywhere", async (fixture) => {
  const { sql, gateway } = fixture;
  await using external = await registerServer(fixture);
  const secrets = ["ann@tenant-one.example", "bob@tenant-two.example"] as const;
  const callers = await Promise.all(
    secrets.map(async () =>
      await fixture.createCaller(await fixture.createUser(), [external.toolId])
    ),
  );
  for (const [index, caller] of callers.entries()) {
    await external.call(caller, "search", { searchValue: secrets[index] ?? "" });
    await external.call(caller, "fail", { with: secrets[index] ?? "" });
  }

  for (const [index, caller] of callers.entries()) {
    const theirs = secrets[1 - index] ?? "";
    const seen = [
      await gateway.listAgentTools(caller, noAbort()),
      await gateway.listServerTools(external.slug, caller, { refresh: true }, noAbort()),
      await gateway.listServers(caller),
      await external.call(caller, "search", { search_value: "x" }),
      await sql`select * from public.get_agent_mcp_tools(${caller.agentId}, ${caller.userId})`,
    ];
    assert.ok(!JSON.stringify(seen).includes(theirs.split("@")[1] ?? theirs));
    assert.ok(JSON.stringify(seen).includes(secrets[index] ?? ""));
  }
});

gatewayTest("a bad grade removes the graded arguments for everyone", async (fixture) => {
  const { sql, gateway } = fixture;
  await using external = await registerServer(fixture);
  const caller = { ...nobody(), userId: await fixture.createUser() };
  const good = await external.call(caller, "search", { searchValue: "good", unit: "people" });
  const bad = await external.call(caller, "search", { searchValue: "bad" });
  const learned = async (who: ToolCaller) => {
    const { tools } = await gateway.listServerTools(external.slug, who, {}, noAbort());
    return tools.find(({ name }) => name === "search")?.successfulParameters;
  };
  assert.equal(good.kind, "answered");
  assert.equal((await learned(caller))?.length, 2);

  await sql`select private.delete_parameters(${bad.executionId})`;
  await sql`select private.delete_parameters(${bad.executionId})`;

  assert.deepEqual(await learned(caller), [{ searchValue: "good", unit: "people" }]);
  assert.deepEqual(await learned(nobody()), [{ searchValue: "<string>", unit: "people" }]);
});

gatewayTest("a list that an aborted caller began is completed for others", async (fixture) => {
  const { gateway, sql } = fixture;
  const abort = new AbortController();
  const held = Promise.withResolvers<undefined>();
  const lists = () => external.server.seen.filter(({ method }) => method === "tools/list").length;
  await using external = await registerServer(fixture, {
    intercept: ({ method }) => method === "tools/list" ? held.promise : undefined,
  });
  const caller = await fixture.createCaller(null, [external.toolId]);
  const reason = new Error("gone");
  const first = gateway.listAgentTools(caller, abort.signal);
  await waitFor(() => lists() === 1, { what: "the listing" });
  abort.abort(reason);
  await assert.rejects(first, (error) => error === reason);

  held.resolve(undefined);
  const isListed = async () => {
    const rows = await sql`
      select from public.agent_mcp_connections
      where tool_id = ${external.toolId} and tools_listed_at is not null
    `;
    return rows.length === 1;
  };
  await waitFor(isListed, { what: "the stored list" });
  const { tools } = await gateway.listAgentTools(caller, noAbort());

  assert.equal(tools.length, 3);
  assert.equal(lists(), 1);
});
