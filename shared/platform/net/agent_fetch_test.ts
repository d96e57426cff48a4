import assert from "node:assert/strict";
import { createAgentFetch } from "./agent_fetch.ts";
import { createGuardedFetch } from "./guarded_fetch.ts";

const PROJECT = "https://project.example";
const SECRET = "sb_secret_of_the_project";
const SERVICE_TOKEN = ["eyJhbGciOiJIUzI1NiJ9", btoa('{"role":"service_role"}'), "c2lnbmF0dXJl"]
  .join(".").replaceAll("=", "");

function agentFetch(answer: (url: string) => Response = () => new Response("ok")) {
  const sent: Request[] = [];
  const guarded = createGuardedFetch({
    allowLoopback: false,
    resolveHost: () => Promise.resolve(["93.184.215.14"]),
    fetch: (input, init) => {
      const request = new Request(input, init);
      sent.push(request);
      return Promise.resolve(answer(request.url));
    },
  });
  const send = createAgentFetch({
    taskId: "00000000-0000-4000-8000-000000000001",
    secretKeys: [SECRET],
    projectUrls: [PROJECT],
    fetch: guarded,
  });
  return { send, sent };
}

Deno.test("an agent's fetch marks every request, whatever its headers", async () => {
  const { send, sent } = agentFetch();

  await send("https://alias.example/rest/v1/rpc/x", {
    headers: { "X-Supaswarm-Actor": "user", "x-supaswarm-task-id": "another", accept: "a/b" },
  });

  const { headers } = sent[0] ?? new Request(PROJECT);
  assert.equal(headers.get("x-supaswarm-actor"), "agent");
  assert.equal(headers.get("x-supaswarm-task-id"), "00000000-0000-4000-8000-000000000001");
  assert.equal(headers.get("accept"), "a/b");
});

Deno.test("an agent's fetch keeps the mark on redirects to other origins", async () => {
  const { send, sent } = agentFetch((url) =>
    url.startsWith("https://other.example")
      ? new Response(null, { status: 302, headers: { location: `${PROJECT}/rest/v1/tasks` } })
      : new Response("ok")
  );

  await send("https://other.example/");

  assert.deepEqual(sent.map(({ headers }) => headers.get("x-supaswarm-actor")), ["agent", "agent"]);
});

Deno.test("an agent's fetch sends no secret key of the project in any form", async () => {
  const { send, sent } = agentFetch();
  const attempts: [string, RequestInit][] = [
    [PROJECT, { headers: { apikey: SECRET } }],
    [PROJECT, { headers: { authorization: `Bearer ${SECRET}` } }],
    [`${PROJECT}/?apikey=${SECRET}`, {}],
    [PROJECT, { headers: { authorization: `Bearer ${SERVICE_TOKEN}` } }],
  ];

  for (const [url, init] of attempts) {
    await assert.rejects(send(url, init), { code: "AGENT_NOT_ALLOWED" });
  }
  assert.equal(sent.length, 0);
});

Deno.test("an agent's fetch reaches every service of the project except Auth", async () => {
  const { send, sent } = agentFetch();

  for (
    const path of ["/auth/v1/user", "//auth/v1/token", "/%61uth/v1/user", "/x/../auth/v1/user"]
  ) {
    await assert.rejects(send(PROJECT + path), { code: "TOOL_ADDRESS_FORBIDDEN" });
  }
  await send(`${PROJECT}/rest/v1/orders`);
  await send("https://other.example/auth/v1/user");
  assert.equal(sent.length, 2);
});
