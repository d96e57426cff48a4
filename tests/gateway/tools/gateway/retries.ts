import assert from "node:assert/strict";
import { startHttpServer } from "../http_fixture.ts";
import type { McpFixtureOptions } from "../mcp_fixture.ts";
import { callOf, noAbort, nobody } from "../tool_fixture.ts";
import { gatewayTest, registerServer } from "./gateway_claims.ts";

/** Loses the first `count` answers of calls, after the server did its work. */
function losing(count: number): NonNullable<McpFixtureOptions["intercept"]> {
  return async ({ method }, answer) => {
    const response = await answer();
    if (method !== "tools/call" || count-- <= 0) return response;
    await response.body?.cancel();
    return new Response(": gone\n\n", { headers: { "content-type": "text/event-stream" } });
  };
}

gatewayTest("a read whose answer was lost is repeated", async (fixture) => {
  await using external = await registerServer(fixture, { intercept: losing(2) });

  const outcome = await external.call(nobody(), "search", { searchValue: "x" });

  assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
});

gatewayTest("a write whose answer was lost is unknown and never repeated", async (fixture) => {
  await using external = await registerServer(fixture, { intercept: losing(1) });

  const outcome = await external.call(nobody(), "write_note", { text: "once" });

  assert.equal(outcome.kind, "unknown");
  assert.deepEqual(external.server.notes, ["once"]);
});

gatewayTest("hints that the operator does not confirm cause no repeat", async (fixture) => {
  await using external = await registerServer(fixture, { intercept: losing(1) }, {
    trust_annotations: false,
  });

  const outcome = await external.call(nobody(), "search", { searchValue: "x" });

  assert.equal(outcome.kind, "unknown");
});

gatewayTest("a short Retry-After is waited for, even for writes", async (fixture) => {
  for (const status of [429, 503]) {
    let isFirst = true;
    await using external = await registerServer(fixture, {
      intercept: ({ method }) => {
        if (method !== "tools/call" || !isFirst) return undefined;
        isFirst = false;
        return new Response(null, { status, headers: { "retry-after": "0" } });
      },
    });

    const outcome = await external.call(nobody(), "write_note", { text: "x" });

    assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
    assert.deepEqual(external.server.notes, ["x"]);
  }
});

gatewayTest("all attempts share one deadline", async (fixture) => {
  await using external = await registerServer(fixture, { intercept: losing(9) }, {
    timeout_ms: 300,
  });

  const outcome = await external.call(nobody(), "search", { searchValue: "x" });

  assert.ok(outcome.kind === "answered" && outcome.isError);
  const attempts = external.server.seen.filter(({ method }) => method === "tools/call");
  assert.ok(
    attempts.length < 3,
    "the pauses before the third attempt are longer than the deadline",
  );
});

gatewayTest("redirects and 5xx of a plain API are classified the same way", async (fixture) => {
  const answers = [
    { status: 500, code: "TOOL_FAILED", errorClass: "tool", http: 200 },
    { status: 401, code: "TOOL_AUTH_FAILED", errorClass: "auth", http: 502 },
    { status: 503, code: "TOOL_UNAVAILABLE", errorClass: "transport", http: 502 },
  ];
  for (const { status, code, errorClass, http } of answers) {
    const server = startHttpServer(() => new Response("no", { status }));
    const toolId = await fixture.createTool({
      type: "http_api",
      config: { method: "GET", url: server.url, parameters: { type: "object" } },
    });
    const caller = await fixture.createCaller(null, [toolId]);
    const { tools: [tool] } = await fixture.gateway.listAgentTools(caller, noAbort());
    assert.ok(tool);

    const outcome = await fixture.gateway.call(callOf(tool, caller, {}), noAbort());

    assert.ok(outcome.kind === "answered");
    assert.deepEqual([outcome.errorCode, outcome.errorClass, outcome.status], [
      code,
      errorClass,
      http,
    ]);
    await server.stop();
  }
});
