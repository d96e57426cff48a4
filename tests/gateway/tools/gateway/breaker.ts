import assert from "node:assert/strict";
import { waitFor } from "../../../../scripts/wait_for.ts";
import { noAbort, nobody } from "../tool_fixture.ts";
import { codeOf, gatewayTest, registerServer } from "./gateway_claims.ts";

gatewayTest("five failures open the circuit breaker, one probe closes it", async (fixture) => {
  const { sql, gateway } = fixture;
  let isDown = false;
  let calls = 0;
  await using external = await registerServer(fixture, {
    intercept: ({ method }) => {
      if (method !== "tools/call") return undefined;
      calls++;
      return isDown ? new Response(null, { status: 503 }) : undefined;
    },
  });
  const search = () => external.call(nobody(), "search", { searchValue: "x" });
  await search();
  isDown = true;
  for (let n = 0; n < 5; n++) {
    assert.equal(codeOf(await search()), n < 2 ? "TOOL_UNAVAILABLE" : "EXCEEDED_RETRIES");
  }
  calls = 0;

  const failedFast = await search();
  const [summary] = (await gateway.listServers(nobody()))
    .filter(({ slug }) => slug === external.slug);

  assert.equal(calls, 0);
  assert.ok(failedFast.kind === "answered");
  assert.match(failedFast.text, /temporarily disabled.*tried again at \d{4}-/s);
  assert.ok((failedFast.retryAfterMs ?? 0) > 20_000);
  assert.equal(summary?.status, "open");
  assert.ok(summary.retryAt !== null);

  await sql`
    update public.agent_mcp_connections set retry_at = now() where tool_id = ${external.toolId}`;
  isDown = false;
  const probes = await Promise.all([search(), search(), search()]);
  assert.ok(probes.some((outcome) => codeOf(outcome) === undefined));
  assert.equal(codeOf(await search()), undefined);
});

gatewayTest("an error of the tool does not count as a failure of the server", async (fixture) => {
  await using external = await registerServer(fixture);
  for (let n = 0; n < 6; n++) await external.call(nobody(), "fail", { with: String(n) });

  const outcome = await external.call(nobody(), "search", { searchValue: "x" });

  assert.equal(codeOf(outcome), undefined);
});

gatewayTest("a server that just failed is skipped and delays no caller", async (fixture) => {
  const { sql, gateway } = fixture;
  const held = Promise.withResolvers<Response>();
  let asked = 0;
  await using dead = await registerServer(fixture, {
    intercept: () => {
      asked++;
      return held.promise;
    },
  });
  await using alive = await registerServer(fixture);
  const userId = await fixture.createUser();
  const deadFirst = await fixture.createCaller(userId, [dead.toolId, alive.toolId]);
  await fixture.findTool(await fixture.createCaller(userId, [alive.toolId]), "search");
  const [connection] = await sql<{ id: string }[]>`
    select private.ensure_connection(${dead.toolId}, ${userId}) as id`;
  await sql`
    select private.fail_listing(${connection?.id ?? null},
      '{"code": "TOOL_TIMEOUT", "message": "It did not list its tools"}', true)`;

  const { tools, unavailable } = await gateway.listAgentTools(deadFirst, noAbort());

  assert.equal(asked, 0);
  assert.equal(tools.length, 3);
  assert.deepEqual(unavailable.map(({ code }) => code), ["TOOL_TIMEOUT"]);
  held.resolve(new Response(null, { status: 503 }));
});

gatewayTest("twenty concurrent callers request a server's tools once", async (fixture) => {
  const { gateway } = fixture;
  let lists = 0;
  await using external = await registerServer(fixture, {
    intercept: ({ method }) => {
      if (method === "tools/list") lists++;
      return undefined;
    },
  });
  const caller = await fixture.createCaller(await fixture.createUser(), [external.toolId]);

  const found = await Promise.all(
    Array.from({ length: 20 }, () => gateway.listAgentTools(caller, noAbort())),
  );

  assert.equal(lists, 1);
  assert.deepEqual([...new Set(found.map(({ tools }) => tools.length))], [3]);
});

gatewayTest("a caller waits for a slow listing while its lister reports", async (fixture) => {
  const { sql, gateway } = fixture;
  const held = Promise.withResolvers<void>();
  await using external = await registerServer(fixture, {
    intercept: ({ method }, answer) =>
      method === "tools/list" ? held.promise.then(answer) : undefined,
  });
  const caller = await fixture.createCaller(null, [external.toolId]);
  const startedAt = async () => {
    const [row] = await sql<{ at: string | null }[]>`
      select listing_started_at::text as at from public.agent_mcp_connections
      where tool_id = ${external.toolId}`;
    return row?.at ?? null;
  };
  const asked = gateway.listAgentTools(caller, noAbort());
  const first = await waitFor(startedAt, { what: "the listing" });

  await waitFor(async () => await startedAt() !== first, { what: "another report" });
  held.resolve();

  assert.equal((await asked).tools.length, 3);
  assert.equal(await startedAt(), null);
});

gatewayTest(
  "a list that the database could not store does not count against the server",
  async (fixture) => {
    const { sql, gateway } = fixture;
    await using external = await registerServer(fixture);
    const caller = await fixture.createCaller(null, [external.toolId]);
    await sql.unsafe(`
    create function private.break_off() returns trigger language plpgsql set search_path = ''
    as $$ begin raise sqlstate '40001'; end $$;
    create trigger break_off before insert on public.mcp_tools_cache
      for each statement execute function private.break_off();`);
    try {
      await assert.rejects(
        gateway.listAgentTools(caller, noAbort()),
        { code: "DATABASE_UNAVAILABLE" },
      );
    } finally {
      await sql.unsafe("drop function private.break_off() cascade");
    }

    const [row] = await sql`
    select listing_error, listing_started_at from public.agent_mcp_connections
    where tool_id = ${external.toolId}`;
    assert.deepEqual({ ...row }, { listing_error: null, listing_started_at: null });
    assert.equal((await gateway.listAgentTools(caller, noAbort())).tools.length, 3);
  },
);

gatewayTest("the next caller immediately repeats a listing whose caller died", async (fixture) => {
  const { sql, gateway } = fixture;
  await using external = await registerServer(fixture);
  const caller = await fixture.createCaller(null, [external.toolId]);
  const [connection] = await sql<{ id: string }[]>`
    select private.ensure_connection(${external.toolId}, null) as id`;
  assert.ok(connection);
  await sql`select private.begin_listing(${connection.id})`;
  await sql`
    update public.agent_mcp_connections
    set listing_started_at = clock_timestamp() - interval '5 seconds'
    where id = ${connection.id}`;

  const { tools, unavailable } = await gateway.listAgentTools(caller, noAbort());

  assert.deepEqual(unavailable, []);
  assert.equal(tools.length, 3);
});
