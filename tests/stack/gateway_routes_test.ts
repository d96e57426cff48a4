import assert from "node:assert/strict";
import { startGateway } from "../../stack/gateway/gateway.ts";
import { LOOPBACK_CALLERS } from "../../stack/local_callers.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { startGatewayFixture } from "./gateway_fixture.ts";

Deno.test("each path leads to its service", async (t) => {
  await using fixture = await startGatewayFixture();
  const { url, keys } = fixture;

  await t.step("functions get their requests unchanged", async () => {
    const answer = await fetch(`${url}/functions/v1/mcp/quoth?x=1`, { method: "POST", body: "{}" });

    assert.deepEqual(await answer.json(), { name: "mcp", path: "/functions/v1/mcp/quoth" });
  });

  await t.step("websockets reach Realtime", async () => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/realtime/v1/websocket`);
    await new Promise((resolve) => socket.onopen = resolve);
    const echo = new Promise((resolve) => socket.onmessage = ({ data }) => resolve(data));
    socket.send("ping");

    assert.equal(await echo, "ping");
    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.close();
    await closed;
  });

  await t.step("the keys for checking tokens are public", async () => {
    const { keys: [key] } = await (await fetch(`${url}/auth/v1/.well-known/jwks.json`)).json();

    assert.equal(key.alg, "ES256");
    assert.ok(key.kid);
    assert.equal(key.d, undefined);
  });

  await t.step("an API key is required and checked", async () => {
    for (const path of ["/rest/v1/any", "/auth/v1/settings"]) {
      assert.equal(await statusOf(url + path, {}), 401);
      assert.equal(await statusOf(url + path, { apikey: "sb_publishable_wrong" }), 401);
    }
    const fromBrowser = { apikey: keys.secretKey, "user-agent": "Mozilla/5.0 (X11)" };
    assert.equal(await statusOf(`${url}/rest/v1/any`, fromBrowser), 401);
  });

  await t.step("pages of other sites get no answer, nor do other host names", async () => {
    const preflight = await fetch(`${url}/rest/v1/any`, {
      method: "OPTIONS",
      headers: { origin: "https://page.test", "access-control-request-method": "POST" },
    });

    assert.equal(preflight.status, 403);
    assert.equal(preflight.headers.get("access-control-allow-origin"), null);
    assert.equal((await preflight.json()).error.code, "ORIGIN_FORBIDDEN");
    const socket = new WebSocket(`${url.replace("http", "ws")}/realtime/v1/websocket`, {
      headers: { origin: "https://page.test" },
    });
    assert.equal(
      await new Promise((resolve) => socket.onerror = () => resolve("refused")),
      "refused",
    );
  });

  await t.step("pages of every loopback port get answers", async () => {
    const preflight = await fetch(`${url}/rest/v1/any`, {
      method: "OPTIONS",
      headers: {
        origin: "http://localhost:5173",
        "access-control-request-method": "POST",
        "access-control-request-headers": "apikey, x-custom",
      },
    });

    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
    assert.equal(preflight.headers.get("access-control-allow-headers"), "apikey, x-custom");
  });

  await t.step(
    "JSON is compressed for callers that accept it, streams of events are not",
    async () => {
      const encodingOf = async (path: string, accepted: string) => {
        const answer = await fetch(url + path, {
          headers: { apikey: keys.publishableKey, "accept-encoding": accepted },
        });
        const text = await answer.text();
        return { encoding: answer.headers.get("content-encoding"), text };
      };
      const plain = await encodingOf("/auth/v1/settings", "identity");

      for (const accepted of ["gzip", "br"]) {
        const { encoding, text } = await encodingOf("/auth/v1/settings", accepted);
        assert.deepEqual([encoding, text], [accepted, plain.text]);
        assert.equal((await encodingOf("/functions/v1/events", accepted)).encoding, null);
      }
      assert.equal(plain.encoding, null);
    },
  );

  await t.step("a body over the limit is refused", async () => {
    const big = new Uint8Array(2 * 1024 * 1024);
    const answer = await fetch(`${url}/auth/v1/signup`, {
      method: "POST",
      headers: { apikey: keys.publishableKey, "content-type": "application/json" },
      body: big,
    });
    const streamed = await fetch(`${url}/auth/v1/signup`, {
      method: "POST",
      headers: { apikey: keys.publishableKey, "content-type": "application/json" },
      body: ReadableStream.from([big]),
    });

    assert.equal((await answer.json()).error.code, "BODY_TOO_LARGE");
    assert.equal((await streamed.json()).error.code, "BODY_TOO_LARGE");
  });

  await t.step("the root reports that it serves, and any other path is a 404", async () => {
    assert.deepEqual(await (await fetch(url)).json(), { status: "ok" });
    assert.equal((await (await fetch(`${url}/nowhere`)).json()).error.code, "ROUTE_NOT_FOUND");
  });

  await t.step("a second gateway on the port is refused with a solution", async () => {
    const second = startGateway({
      database: fixture.database,
      keys,
      port: Number(new URL(url).port),
      callers: LOOPBACK_CALLERS,
      dataDir: null,
      functions: { fetch: () => Promise.resolve(new Response()) },
      realtime: { fetch: () => Promise.resolve(new Response()) },
      log: () => {},
    });

    await assert.rejects(second, { code: "CONFIG_INVALID", hint: /--port/ });
  });
});

Deno.test("requests get 503 while the database restarts, and succeed afterwards", async () => {
  await using fixture = await startGatewayFixture(
    `create table public.things (id int); grant all on public.things to service_role;`,
    { statementLimitMs: 2_000 },
  );
  const things = `${fixture.url}/rest/v1/things`;
  const headers = { apikey: fixture.keys.secretKey };
  assert.equal(await statusOf(things, headers), 200);
  let restartCount = 0;
  fixture.database.onRestart(() => restartCount++);

  // Not awaited: a query whose server dies may stay open.
  fixture.sql`select pg_sleep(60)`.catch(() => {});
  const statuses = new Set<number>();
  await waitFor(async () => {
    const status = await statusOf(things, headers);
    statuses.add(status);
    return restartCount > 0 && status === 200;
  }, { what: "the gateway's recovery" });

  assert.deepEqual([...statuses].sort(), [200, 503]);
  assert.equal((await fixture.signedUp()).id.length, 36);
});

async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(url, { headers });
  await answer.body?.cancel();
  return answer.status;
}
