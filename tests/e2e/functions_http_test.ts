import assert from "node:assert/strict";
import { signUp } from "../../scripts/demo/user_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { created, refused, sendRequest, userHeaders } from "./create_task_endpoint.ts";
import { addAgent } from "./operator.ts";
import { bootPlatform, type Platform } from "./platform.ts";
import { complete, scriptTurns } from "./script.ts";
import { makeNotes, seededAgents } from "./seeded_agents_steps.ts";
import { readTask, untilTask } from "./task_view.ts";

const WORKER = "/functions/v1/supaswarm-worker";
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TASK = { agent: "echo", input: "Say it" };

Deno.test("the functions follow their HTTP contract", async (t) => {
  const notes = await makeNotes();
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => Deno.remove(notes, { recursive: true }));
  await using platform = await bootPlatform({ filesFolder: notes });
  const { stack, keys, sql, project } = platform;
  await addAgent(sql, { slug: "echo" });
  await addAgent(sql, { slug: "retired" });
  await sql`update public.agents set is_active = false where slug = 'retired'`;
  stack.models.addAgent(scriptTurns("echo", complete("said")));
  const service = { apikey: stack.secretKey };
  const user = await signUp(project, "ada");

  await seededAgents(t, platform, user);

  await t.step("a user's task answers 201, belongs to the user and runs", async () => {
    const answer = await sendRequest(project, { body: TASK, headers: userHeaders(project, user) });

    const { task_id, master_task_id, status, channels } = created(answer);
    assert.equal(answer.status, 201);
    assert.deepEqual([master_task_id, status], [task_id, "pending"]);
    assert.deepEqual(channels, {
      task: `supaswarm:task:${task_id}`,
      master: `supaswarm:master:${task_id}`,
    });
    const { output, created_by } = await untilTask(sql, task_id, "completed");
    const { data } = await user.client.auth.getUser();
    assert.deepEqual([output, created_by], ["said", data.user?.id]);
  });

  await t.step(
    "a secret key's task belongs to the service and keeps the caller's trace",
    async () => {
      const headers = { ...service, traceparent: TRACEPARENT };
      const traced = created(await sendRequest(project, { body: TASK, headers }));
      const malformed = { ...service, traceparent: "00-zero" };
      const untraced = created(await sendRequest(project, { body: TASK, headers: malformed }));

      const { created_by, traceparent } = await readTask(sql, traced.task_id);
      assert.deepEqual([created_by, traceparent], [null, TRACEPARENT]);
      assert.equal((await readTask(sql, untraced.task_id)).traceparent, null);
    },
  );

  await t.step("all options of the contract are stored", async () => {
    const options = {
      priority: "high",
      metadata: { source: "test" },
      budget: { max_steps: 10, max_depth: null },
    };
    const answer = await sendRequest(project, {
      headers: service,
      body: {
        ...options,
        agent: "echo",
        input: { topic: "tides\uD800" },
        concurrency_key: "tenant-1\uD800",
        run_after: new Date(Date.now() + 300 * 86_400_000).toISOString(),
      },
    });

    const [row] = await sql`
      select input, priority, concurrency_key, metadata, budget from public.tasks
      where id = ${created(answer).task_id}::uuid`;
    assert.deepEqual({ ...row }, {
      ...options,
      input: { topic: "tides\uFFFD" },
      concurrency_key: "tenant-1\uFFFD",
    });
  });

  await t.step("an invalid body is refused with code, message and hint", async () => {
    const bodies: readonly (readonly [unknown, number, string, RegExp])[] = [
      ["{agent:", 400, "BODY_INVALID", /not JSON/],
      ["", 400, "BODY_INVALID", /empty/],
      ["[]", 400, "BODY_INVALID", /object/],
      [{ ...TASK, agnet: "x" }, 400, "BODY_INVALID", /agnet/],
      [{ agent: "echo" }, 400, "BODY_INVALID", /input/],
      [{ agent: 7, input: "x" }, 400, "BODY_INVALID", /agent/],
      [{ ...TASK, input: [1] }, 400, "BODY_INVALID", /input/],
      [{ ...TASK, input: "" }, 400, "BODY_INVALID", /input/],
      [{ ...TASK, run_after: "tomorrow" }, 400, "BODY_INVALID", /run_after/],
      [{ ...TASK, run_after: "0000-01-01T00:00:00Z" }, 400, "BODY_INVALID", /run_after/],
      [{ ...TASK, metadata: "x" }, 400, "BODY_INVALID", /metadata/],
      [{ ...TASK, watch: "yes" }, 400, "BODY_INVALID", /watch/],
      [{ ...TASK, budget: { max_steps: "9" } }, 400, "BODY_INVALID", /budget/],
      [{ ...TASK, input: "x".repeat(1_100_000) }, 400, "BODY_INVALID", /larger/],
      [
        `{"agent":"echo","input":${'{"a":'.repeat(9_000)}1${"}".repeat(9_001)}`,
        400,
        "BODY_INVALID",
        /levels/,
      ],
      [{ ...TASK, budget: { max_stepz: 1 } }, 400, "TASK_BUDGET_INVALID", /max_stepz/],
      [{ ...TASK, budget: { max_steps: -1 } }, 400, "TASK_BUDGET_INVALID", /max_steps/],
      [{ ...TASK, budget: { max_steps: 1.5 } }, 400, "TASK_BUDGET_INVALID", /max_steps/],
      [{ ...TASK, budget: { max_steps: 1e300 } }, 400, "TASK_BUDGET_INVALID", /max_steps/],
      [{ ...TASK, budget: { "\0": 1 } }, 400, "BODY_INVALID", /budget\.\uFFFD contains .* U\+0000/],
      [{ ...TASK, input: { list: ["a", "b\0"] } }, 400, "BODY_INVALID", /input\.list\.1 contains/],
      [{ ...TASK, priority: "urgent" }, 400, "TASK_PRIORITY_INVALID", /urgent/],
      [{ ...TASK, priority: "\uD800" }, 400, "TASK_PRIORITY_INVALID", /\uFFFD/],
      [{ ...TASK, agent: "a\0" }, 400, "BODY_INVALID", /agent contains/],
      [{ ...TASK, agent: "nobody" }, 404, "AGENT_NOT_FOUND", /nobody/],
      [{ ...TASK, agent: "retired" }, 409, "AGENT_INACTIVE", /retired/],
    ];
    for (const [body, status, code, says] of bodies) {
      const answer = await sendRequest(project, { body, headers: service });

      const label = JSON.stringify(body).slice(0, 80);
      const error = refused(answer);
      assert.deepEqual([answer.status, error.code], [status, code], label);
      assert.match(error.message, says, label);
      assert.ok(error.hint.length > 0, label);
    }
  });

  await t.step("only POST is answered, and only for callers who may create tasks", async () => {
    const get = await sendRequest(project, { method: "GET", headers: service });
    assert.deepEqual([get.status, refused(get).code], [405, "METHOD_NOT_ALLOWED"]);

    const signed = async (role: string, sub: string = crypto.randomUUID()) => {
      const exp = Math.floor(Date.now() / 1_000) + 600;
      const token = await keys.signUserToken({ sub, role, exp, aud: "authenticated" });
      return { apikey: stack.publishableKey, authorization: `Bearer ${token}` };
    };
    const unknown: readonly Record<string, string>[] = [
      {},
      { apikey: stack.publishableKey },
      { apikey: "sb_secret_wrong" },
      { authorization: `Bearer ${stack.secretKey}` },
      { apikey: stack.publishableKey, authorization: "Bearer x.y.z" },
      { ...userHeaders(project, user), authorization: `Bearer ${tampered(user.accessToken)}` },
      await signed("authenticated", "user_2b7K"),
    ];
    const wrong: typeof unknown = [await signed("anon"), await signed("service_role")];
    for (const headers of [...unknown, ...wrong]) {
      const answer = await sendRequest(project, { body: TASK, headers });

      const error = refused(answer);
      const label = JSON.stringify(headers);
      const expected = wrong.includes(headers) ? [403, "FORBIDDEN"] : [401, "UNAUTHORIZED"];
      assert.deepEqual([answer.status, error.code], expected, label);
      assert.ok(error.hint.length > 0, label);
    }
  });

  await t.step("a browser's preflight request passes, and answers have CORS headers", async () => {
    const preflight = await sendRequest(project, {
      method: "OPTIONS",
      headers: {
        origin: "http://localhost:3000",
        "access-control-request-method": "POST",
        "access-control-request-headers": "apikey,authorization,content-type,x-client-info",
      },
    });
    const refusal = await sendRequest(project, { body: TASK });

    assert.ok(preflight.status === 200 || preflight.status === 204);
    const allowed = preflight.headers.get("access-control-allow-headers") ?? "";
    for (const name of ["apikey", "authorization", "content-type", "x-client-info"]) {
      assert.match(allowed, new RegExp(name));
    }
    assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /POST/);
    for (const { headers } of [preflight, refusal]) {
      assert.equal(headers.get("access-control-allow-origin"), "*");
    }
  });

  await t.step("every answer has a request id: the caller's, if it is valid", async () => {
    const given = { ...service, "x-request-id": "request-0815" };
    const kept = await sendRequest(project, { body: TASK, headers: given });
    const odd = await sendRequest(project, { headers: { ...service, "x-request-id": "a b" } });

    assert.equal(kept.headers.get("x-request-id"), "request-0815");
    assert.match(odd.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
  });

  await t.step("an idempotency key creates one task, even for concurrent requests", async () => {
    const body = { ...TASK, idempotency_key: "once" };
    const first = await sendRequest(project, { body, headers: service });
    const again = await sendRequest(project, {
      body: { ...body, input: "Other" },
      headers: service,
    });
    const others = await sendRequest(project, { body, headers: userHeaders(project, user) });

    assert.deepEqual([first.status, again.status, others.status], [201, 200, 201]);
    assert.equal(created(first).task_id, created(again).task_id);
    assert.notEqual(created(first).task_id, created(others).task_id);

    const twin = { ...TASK, idempotency_key: "at once" };
    const both = await Promise.all(
      [1, 2].map(() => sendRequest(project, { body: twin, headers: service })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 201]);
    assert.equal(new Set(both.map((answer) => created(answer).task_id)).size, 1);
  });

  await t.step("a task runs after its start time, not before", async () => {
    const soon = new Date(Date.now() + 1_500);
    const [past, near, far] = await Promise.all(
      [new Date(0), soon, new Date(Date.now() + 300 * 86_400_000)].map(async (time) => {
        const body = { ...TASK, run_after: time.toISOString() };
        return created(await sendRequest(project, { body, headers: service })).task_id;
      }),
    );

    assert.ok(past && near && far);
    await untilTask(sql, past, "completed");
    await untilTask(sql, near, "completed");
    assert.ok(await startedAt(platform, near) >= soon);
    assert.equal((await readTask(sql, far)).status, "pending");
  });

  await t.step("the worker answers 202 only to a secret key and the wake token", async () => {
    const wakeToken = await waitFor(() => readWakeToken(platform));
    const admitted = await sendRequest(project, { endpoint: WORKER, headers: service });
    const woken = await sendRequest(project, {
      endpoint: WORKER,
      headers: { "x-supaswarm-wake-token": wakeToken },
    });
    for (const answer of [admitted, woken]) {
      assert.equal(answer.status, 202);
      assert.match(JSON.stringify(answer.body), /^\{"worker_id":"[0-9a-f-]{36}"\}$/);
    }

    const callers: readonly Record<string, string>[] = [
      {},
      { "x-supaswarm-wake-token": "wrong" },
      { apikey: stack.publishableKey },
      userHeaders(project, user),
    ];
    for (const headers of callers) {
      const answer = await sendRequest(project, { endpoint: WORKER, headers });
      assert.deepEqual([answer.status, refused(answer).code], [401, "UNAUTHORIZED"]);
    }
    const get = await sendRequest(project, { endpoint: WORKER, method: "GET", headers: service });
    assert.equal(refused(get).code, "METHOD_NOT_ALLOWED");
  });
});

/** The same token with another user id, which invalidates its signature. */
function tampered(token: string): string {
  const [header, , signature] = token.split(".");
  const claims = { sub: crypto.randomUUID(), role: "authenticated", exp: 4_102_444_800 };
  return [header, btoa(JSON.stringify(claims)).replaceAll("=", ""), signature].join(".");
}

async function startedAt({ sql }: Platform, taskId: string): Promise<Date> {
  const [row] = await sql<{ started_at: Date }[]>`
    select started_at from public.tasks where id = ${taskId}::uuid`;
  return new Date(row?.started_at ?? 0);
}

async function readWakeToken({ sql }: Platform): Promise<string | undefined> {
  const [row] = await sql<{ token: string }[]>`
    select decrypted_secret as token from vault.decrypted_secrets
    where name = 'supaswarm_wake_token'`;
  return row?.token;
}
