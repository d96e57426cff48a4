import assert from "node:assert/strict";
import { z } from "../../vendor/zod.js";
import { SwarmError } from "../errors/swarm_error.ts";
import { createHttpHandler, type HttpHandler } from "./http_handler.ts";
import { parseBody } from "./parse_body.ts";

function endpoint(handle: HttpHandler) {
  const lines: string[] = [];
  const log = (_level: string, event: string, fields = {}) => {
    lines.push(JSON.stringify({ event, ...fields }));
  };
  return { serve: createHttpHandler({ methods: ["POST"], log }, handle), lines };
}

function post(body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request("http://localhost/", { method: "POST", body, headers });
}

const schema = z.strictObject({ agent: z.string(), input: z.string() });
const echo: HttpHandler = async (request) => Response.json(await parseBody(request, schema));

Deno.test("every response has the request's id and allows every origin to read it", async () => {
  const { serve } = endpoint(echo);

  const ok = await serve(post('{"agent":"a","input":"b"}', { "x-request-id": "req-12345" }));
  const refused = await serve(post("nonsense"));

  assert.equal(ok.headers.get("x-request-id"), "req-12345");
  assert.match(refused.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(refused.headers.get("access-control-allow-origin"), "*");
});

Deno.test("a preflight request is answered without calling the handler", async () => {
  const { serve } = endpoint(() => Promise.reject(new Error("asked")));

  const answer = await serve(new Request("http://localhost/", { method: "OPTIONS" }));

  assert.equal(answer.status, 204);
  assert.match(answer.headers.get("access-control-allow-headers") ?? "", /apikey/);
});

Deno.test("a preflight response allows the MCP headers and each argument header by name", async () => {
  const { serve } = endpoint(echo);

  const answer = await serve(
    new Request("http://localhost/", {
      method: "OPTIONS",
      headers: { "access-control-request-headers": "mcp-param-region, x-evil, mcp-param-b d" },
    }),
  );

  const allowed = (answer.headers.get("access-control-allow-headers") ?? "").split(", ");
  for (const name of ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region"]) {
    assert.ok(allowed.includes(name), name);
  }
  assert.ok(!allowed.includes("x-evil") && !allowed.includes("mcp-param-b d"));
  assert.match(answer.headers.get("access-control-expose-headers") ?? "", /www-authenticate/);
});

Deno.test("another method is refused with a list of the allowed ones", async () => {
  const { serve } = endpoint(echo);

  const answer = await serve(new Request("http://localhost/"));

  assert.equal(answer.status, 405);
  assert.equal(answer.headers.get("allow"), "POST");
  assert.deepEqual((await answer.json()).error.details, { allowed: ["POST"] });
});

Deno.test("an empty, non-JSON, invalid or oversized body is BODY_INVALID", async () => {
  const { serve } = endpoint(echo);
  const bodies = ["", "{", "[]", '{"agent":1}', '{"agent":"a","input":"b","x":1}'];

  for (const body of [...bodies, `"${"x".repeat(1_100_000)}"`]) {
    const answer = await serve(post(body));

    assert.equal(answer.status, 400, body.slice(0, 40));
    assert.equal((await answer.json()).error.code, "BODY_INVALID");
  }
});

Deno.test("each invalid field of a body is named by its path", async () => {
  const { serve } = endpoint(echo);

  const answer = await serve(post('{"agent":1,"input":null}'));

  const { issues } = (await answer.json()).error.details;
  assert.deepEqual(issues.map((issue: string) => issue.split(":")[0]), ["agent", "input"]);
});

Deno.test("a refusal responds with its status, hint and Retry-After", async () => {
  const { serve } = endpoint(() => {
    throw new SwarmError("MODEL_RATE_LIMITED", "Slow down", {
      hint: "Wait",
      retryAfterSeconds: 1.2,
    });
  });

  const answer = await serve(post(""));

  assert.equal(answer.status, 429);
  assert.equal(answer.headers.get("retry-after"), "2");
  assert.deepEqual(await answer.json(), {
    error: { code: "MODEL_RATE_LIMITED", message: "Slow down", hint: "Wait" },
  });
});

Deno.test("an unexpected error reveals no details in the response or the log", async () => {
  const { serve, lines } = endpoint(() => {
    throw new Error("password hunter2 rejected");
  });

  const answer = await serve(post(""));
  const text = await answer.text();

  assert.equal(answer.status, 500);
  assert.match(text, /INTERNAL/);
  assert.ok(!text.includes("hunter2"));
  assert.ok(!lines.join().includes("hunter2"));
  assert.match(lines.join(), /"cause":"Error"/);
});
