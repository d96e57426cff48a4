import assert from "node:assert/strict";
import { grantScopes, type McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";

const REQUESTS = 120;
/** Each round answers at least what one isolate has CPU for. */
const ROUNDS = 20;
const ROUNDS_MEASURED = 4;

Deno.test("each request of a burst is answered, at once or when it is sent again", async () => {
  await using platform = await sharedPlatform();
  const list = async () => {
    const response = await fetch(platform.mcpUrl, {
      method: "POST",
      headers: {
        apikey: platform.stack.secretKey,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    // On a busy machine an isolate may reach its hard limit, which cuts what it is writing.
    const text = await response.text().catch(() => null);
    if (text === null) return { isAnswered: false };
    if (response.status === 200) return { isAnswered: text.includes("execute_sql") };
    assert.equal(response.status, 503, text);
    assert.equal(JSON.parse(text).error.code, "ENDPOINT_BUSY");
    assert.equal(response.headers.get("retry-after"), "1");
    return { isAnswered: false };
  };

  let openCount = REQUESTS;
  for (let round = 0; round < ROUNDS && openCount > 0; round++) {
    const answers = await Promise.all(Array.from({ length: openCount }, list));
    openCount = answers.filter(({ isAnswered }) => !isAnswered).length;
  }

  assert.equal(openCount, 0);
});

Deno.test("most of 100 lists at once are answered at once, each caller with their own", async () => {
  await using platform = await sharedPlatform();
  const [ada, eve] = await Promise.all([platform.addUser("ada"), platform.addUser("eve")]);
  await grantScopes(platform.sql, ada.id, ["swarm:run"]);
  await grantScopes(platform.sql, eve.id, ["quoth:read"]);
  const list = async ({ headers }: McpUser, id: number) => {
    const response = await fetch(platform.mcpUrl, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" }),
    });
    const text = await response.text();
    if (response.status !== 200) return null;
    assert.match(text, new RegExp(`"id":${id}[,}]`));
    return text.includes('"swarm__list_agents"');
  };

  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const user = i % 10 === 9 ? eve : ada;
      return { user, mayRun: await list(user, i) };
    }),
  );

  const answered = answers.filter(({ mayRun }) => mayRun !== null);
  assert.ok(answered.length >= 80, `${answered.length} were answered`);
  for (const { user, mayRun } of answered) assert.equal(mayRun, user === ada);
});

Deno.test("a burst of the same list costs a fraction of the CPU of as many different ones", async () => {
  await using platform = await sharedPlatform();
  const list = async (progressToken: number) => {
    const response = await fetch(platform.mcpUrl, {
      method: "POST",
      headers: {
        apikey: platform.stack.secretKey,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/list",
        params: { _meta: { progressToken } },
      }),
    });
    await response.text();
  };
  const cpuOf = async (tokens: readonly number[]) => {
    const before = platform.stack.functionUsage("mcp").cpuMs;
    await Promise.all(tokens.map(list));
    return platform.stack.functionUsage("mcp").cpuMs - before;
  };
  const different = Array.from({ length: 40 }, (_, i) => i);

  // A round may meet a new isolate, whose first request costs as much as many others.
  let [differentMs, sameMs] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS_MEASURED; round++) {
    differentMs = Math.min(differentMs, await cpuOf(different));
    sameMs = Math.min(sameMs, await cpuOf(different.map(() => 0)));
  }

  assert.ok(sameMs < differentMs / 2, `${sameMs} ms, and ${differentMs} ms`);
});
