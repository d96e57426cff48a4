import assert from "node:assert/strict";
import { ensureKeys, type StackKeys } from "../../stack/keys/keys.ts";
import { createCreateTaskApp } from "../../shared/app/create_task_app.ts";
import { createWakeGuard } from "../../shared/app/wake_guard.ts";
import { type Config, readConfig } from "../../shared/config/env.ts";
import { Swarm } from "./swarm_fixture.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const USER_ID = "0e0e0e0e-0000-4000-8000-000000000001";

function configFor(databaseUrl: string, keys: StackKeys): Config {
  const environment: Record<string, string> = {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_DB_URL: databaseUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: keys.publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: keys.secretKey, cron: "sb_secret_cron" }),
    SUPABASE_JWKS: JSON.stringify(keys.jwks),
  };
  return readConfig((name) => environment[name]);
}

async function tokenFor(
  keys: StackKeys,
  role = "authenticated",
  sub = USER_ID,
): Promise<string> {
  const exp = Math.floor(Date.now() / 1_000) + 600;
  return await keys.signUserToken({ sub, role, exp, aud: "authenticated" });
}

function nested(levels: number): unknown {
  return JSON.parse('{"a":'.repeat(levels) + "1" + "}".repeat(levels));
}

Deno.test("the endpoints admit the right callers and answer as documented", async (t) => {
  const swarm = await Swarm.open();
  const keys = await ensureKeys(null);
  const config = configFor(swarm.url, keys);
  const endpoint = createCreateTaskApp(config, () => {});
  const create = async (body: unknown, headers: Record<string, string>) => {
    const request = new Request("http://localhost/supaswarm-create-task", {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const response = await endpoint.fetch(request);
    return { status: response.status, body: await response.json() };
  };
  const service = { apikey: keys.secretKey };
  const task = { agent: "test-planner", input: "Write" };

  try {
    await swarm.sql`insert into auth.users (id, email) values (${USER_ID}, 'a@example.org')`;

    await t.step("a secret key creates a task of the service, 201 with its channels", async () => {
      const { status, body } = await create(task, { ...service, traceparent: TRACEPARENT });

      assert.equal(status, 201);
      assert.deepEqual(body, {
        task_id: body.task_id,
        master_task_id: body.task_id,
        status: "pending",
        channels: {
          task: `supaswarm:task:${body.task_id}`,
          master: `supaswarm:master:${body.task_id}`,
        },
      });
      const [row] = await swarm.sql`
        select created_by, traceparent from public.tasks where id = ${body.task_id}::uuid`;
      assert.deepEqual({ ...row }, { created_by: null, traceparent: TRACEPARENT });
    });

    await t.step("with watch the job is watched before a worker can claim it", async () => {
      const watched = await create({ ...task, watch: true }, service);
      const unwatched = await create({ ...task, watch: false }, service);

      assert.equal(watched.status, 201);
      const rows = await swarm.sql`
        select master_task_id from private.watched_jobs
        where watched_until > clock_timestamp() + interval '50 seconds'`;
      assert.deepEqual(rows.map((row) => row.master_task_id), [watched.body.task_id]);
      assert.equal(unwatched.status, 201);
      assert.equal((await create({ ...task, watch: "yes" }, service)).status, 400);
    });

    await t.step("a user's token creates a task of that user", async () => {
      const authorization = `Bearer ${await tokenFor(keys)}`;

      const { status, body } = await create(task, { apikey: keys.publishableKey, authorization });

      assert.equal(status, 201);
      const [row] = await swarm.sql`
        select created_by from public.tasks where id = ${body.task_id}::uuid`;
      assert.equal(row?.created_by, USER_ID);
    });

    await t.step("other callers are refused", async () => {
      const refused: [string, Record<string, string>, number][] = [
        ["nothing", {}, 401],
        ["publishable key", { apikey: keys.publishableKey }, 401],
        ["wrong key", { apikey: "sb_secret_wrong" }, 401],
        ["secret key as bearer", { authorization: `Bearer ${keys.secretKey}` }, 401],
        ["garbage token", { authorization: "Bearer x.y.z" }, 401],
        ["a user of another issuer", {
          authorization: `Bearer ${await tokenFor(keys, "authenticated", "user_2b7K")}`,
        }, 401],
        ["role anon", { authorization: `Bearer ${await tokenFor(keys, "anon")}` }, 403],
        ["role service_role", {
          authorization: `Bearer ${await tokenFor(keys, "service_role")}`,
        }, 403],
      ];
      for (const [name, headers, expected] of refused) {
        const { status, body } = await create(task, headers);

        assert.equal(status, expected, name);
        assert.match(body.error.code, /UNAUTHORIZED|FORBIDDEN/);
      }
    });

    await t.step("the same idempotency key answers 200 with the same task", async () => {
      const body = { ...task, idempotency_key: "once" };

      const first = await create(body, service);
      const second = await create({ ...body, input: "Something else" }, service);

      assert.deepEqual([first.status, second.status], [201, 200]);
      assert.equal(first.body.task_id, second.body.task_id);
    });

    await t.step("all options of the contract are stored", async () => {
      const { status, body } = await create({
        agent: "test-planner",
        input: { topic: "tides\0" },
        run_after: new Date(Date.now() + 300 * 86_400_000).toISOString(),
        priority: "high",
        concurrency_key: "tenant-1\0",
        metadata: { source: "test" },
        budget: { max_steps: 10, max_depth: null },
      }, service);

      assert.equal(status, 201);
      const [row] = await swarm.sql`
        select input, priority, concurrency_key, metadata, budget, message_id
        from public.tasks where id = ${body.task_id}::uuid`;
      assert.deepEqual({ ...row }, {
        input: { topic: "tides\uFFFD" },
        priority: "high",
        concurrency_key: "tenant-1\uFFFD",
        metadata: { source: "test" },
        budget: { max_steps: 10, max_depth: null },
        message_id: null,
      });
    });

    await t.step("invalid requests are refused with their code", async () => {
      const refused: [unknown, number, string][] = [
        [{ agent: "nobody", input: "x" }, 404, "AGENT_NOT_FOUND"],
        [{ ...task, agnet: "x" }, 400, "BODY_INVALID"],
        [{ agent: "test-planner" }, 400, "BODY_INVALID"],
        [{ ...task, input: [1] }, 400, "BODY_INVALID"],
        [{ ...task, run_after: "tomorrow" }, 400, "BODY_INVALID"],
        [{ ...task, priority: "urgent" }, 400, "TASK_PRIORITY_INVALID"],
        [{ ...task, budget: { max_stepz: 1 } }, 400, "TASK_BUDGET_INVALID"],
        [{ ...task, budget: { max_steps: 1.5 } }, 400, "TASK_BUDGET_INVALID"],
        [{ ...task, budget: { max_steps: 1e300 } }, 400, "TASK_BUDGET_INVALID"],
        [{ ...task, budget: { "\0": 1 } }, 400, "TASK_BUDGET_INVALID"],
        [{ ...task, agent: "a\0" }, 404, "AGENT_NOT_FOUND"],
        [{ ...task, priority: "\uD800" }, 400, "TASK_PRIORITY_INVALID"],
        [{ ...task, run_after: "0000-01-01T00:00:00Z" }, 400, "BODY_INVALID"],
        [{ ...task, input: nested(9_000) }, 400, "BODY_INVALID"],
      ];
      for (const [body, status, code] of refused) {
        const answer = await create(body, service);

        const seen = [answer.status, answer.body.error.code];
        assert.deepEqual(seen, [status, code], JSON.stringify(body).slice(0, 200));
        assert.ok(answer.body.error.hint);
      }
    });

    await t.step(
      "a wake-up requires a secret key of any name, or the database's wake token",
      async () => {
        const guard = createWakeGuard(config.apiKeys, swarm.store);
        const wake = (headers: Record<string, string>) =>
          guard(new Request("http://localhost/", { method: "POST", headers }));
        const [row] = await swarm.sql`
        select decrypted_secret as token from vault.decrypted_secrets
        where name = 'supaswarm_wake_token'`;

        await wake(service);
        await wake({ apikey: "sb_secret_cron" });
        await wake({ "x-supaswarm-wake-token": String(row?.token) });
        await wake({ "x-supaswarm-wake-token": String(row?.token) });
        const authorization = `Bearer ${await tokenFor(keys)}`;
        for (
          const headers of [
            { apikey: keys.publishableKey, authorization },
            { "x-supaswarm-wake-token": "wrong" },
            {},
          ]
        ) {
          await assert.rejects(wake(headers), { code: "UNAUTHORIZED" });
        }
      },
    );
  } finally {
    await endpoint.close();
    await swarm.close();
  }
});
