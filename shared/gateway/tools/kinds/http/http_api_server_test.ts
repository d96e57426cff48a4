import assert from "node:assert/strict";
import type { JsonObject } from "../../../../platform/values/json.ts";
import type { HttpApiConfig } from "../../../tool_contracts/tool_config.ts";
import type { ServerCall } from "../../../tool_contracts/tool_server.ts";
import { openHttpApi } from "./http_api_server.ts";

/** The request that a call sends. */
async function sent(config: Partial<HttpApiConfig>, args: JsonObject) {
  const requests: Request[] = [];
  const server = openHttpApi({
    slug: "pets",
    description: null,
    config: { method: "POST", url: "https://pets.example.com/a", parameters: {}, ...config },
    credential: null,
    fetch: (url, init) => {
      requests.push(new Request(url, init));
      return Promise.resolve(Response.json({}));
    },
  });
  const call = {
    arguments: args,
    idempotencyKey: "key",
    timeoutMs: 60_000,
    traceparent: null,
    tracestate: null,
  } as Partial<ServerCall> as ServerCall; // An HTTP API reads no other parts.
  await server.callTool(call, new AbortController().signal);
  const [request] = requests;
  return { url: new URL(request?.url ?? ""), body: await request?.text() };
}

Deno.test("a body whose type is a form is sent as one, with a list as several entries", async () => {
  const { body } = await sent({
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: { amount: "{amount}", tags: "{tags}", note: "{note}" },
  }, { amount: 5, tags: ["a b", "c&d"] });

  assert.equal(body, "amount=5&tags=a+b&tags=c%26d");
});

Deno.test("a list in a query template is several entries, as without a template", async () => {
  const args = { tag: ["a", "b"], limit: 2 };

  const { url } = await sent({ query: { "filter[tag]": "{tag}", limit: "{limit}" } }, args);

  assert.equal(url.search, "?filter%5Btag%5D=a&filter%5Btag%5D=b&limit=2");
});
