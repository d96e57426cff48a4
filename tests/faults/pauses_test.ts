import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { created, sendRequest } from "../e2e/create_task_endpoint.ts";
import { listen } from "../e2e/channel_listener.ts";
import { addAgent, addProvider, addTool, type ToolGrant } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { call, complete, completeWithResults, scriptTurns, type Turn } from "../e2e/script.ts";
import { readSteps, untilTask } from "../e2e/task_view.ts";
import { startMcpServer } from "../gateway/tools/mcp_fixture.ts";
import { type Cast, castOf } from "../security/cast.ts";

/** Where a pause is named: the project has no name. */
interface Paused {
  readonly kind: string;
  readonly name?: string | undefined;
}

Deno.test("paused work waits, nothing fails, and all of it goes on", async (t) => {
  await using platform = await bootPlatform({ db: "native" });
  await using cast = await castOf(platform);
  const { sql } = platform;
  const server = await startMcpServer();
  const note = await addTool(sql, {
    slug: "desk",
    type: "mcp_server",
    config: { mcp_url: server.url },
  });
  await sql`select public.grant_scopes(${cast.stranger.id}, '{swarm:operate}')`;
  const operator = cast.stranger;

  const pause = async (what: Paused, running = "finish") => {
    const { error } = await operator.client.rpc("pause_work", {
      p_kind: what.kind,
      p_name: what.name ?? null,
      p_reason: "An incident",
      p_running: running,
    });
    assert.equal(error, null);
  };
  const resume = async ({ kind, name = null }: { kind: string; name?: string | null }) => {
    const { error, data } = await operator.client.rpc("resume_work", {
      p_kind: kind,
      p_name: name,
    });
    assert.deepEqual([error, data], [null, true]);
  };

  try {
    await t.step("of a paused project, queued jobs wait and running ones end", async () => {
      const gate = Promise.withResolvers<void>();
      await addScript(platform, "first", [
        async () => (await gate.promise, complete("ended")),
      ]);
      const running = await startJobs(platform, "first", 2);
      for (const id of running) await untilTask(sql, id, "running");
      await pause({ kind: "project" });
      const queued = await startJobs(platform, "first", 20);
      gate.resolve();

      for (const id of running) await untilTask(sql, id, "completed");
      assert.deepEqual(await claimed(platform), []);
      assert.deepEqual(await statuses(platform, queued), { pending: 20 });
      const [waiting] = await paused(cast, queued[0] ?? "");
      assert.deepEqual([waiting?.kind, waiting?.reason], ["project", "An incident"]);

      await resume({ kind: "project" });
      for (const id of queued) await untilTask(sql, id, "completed");
      await assertNothingCounted(platform, [...running, ...queued]);
    });

    await t.step("a cut job continues after the pause, and repeats no effect", async () => {
      const gate = Promise.withResolvers<void>();
      const asked: number[] = [];
      await addScript(platform, "cut", [
        call("desk__write_note", { text: "cut" }),
        async () => {
          asked.push(asked.length);
          if (asked.length === 1) await gate.promise;
          return complete("ended");
        },
      ], [{ id: note }]);
      const [id = ""] = await startJobs(platform, "cut", 1);
      await waitFor(() => asked.length === 1, { what: "the second answer to be asked for" });

      await pause({ kind: "project" }, "cut");
      await untilTask(sql, id, "pending");
      gate.resolve();
      assert.deepEqual(await claimed(platform), []);
      await resume({ kind: "project" });
      await untilTask(sql, id, "completed");

      assert.deepEqual([server.notes, asked.length], [["cut"], 2]);
      await assertNothingCounted(platform, [id]);
    });

    await t.step("a write that runs when its job is cut ends first", async () => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const slow = await startMcpServer({
        intercept: async ({ method }, answer) => {
          if (method !== "tools/call") return undefined;
          begun.resolve();
          await gate.promise;
          return await answer();
        },
      });
      try {
        const toolId = await addTool(sql, {
          slug: "slow",
          type: "mcp_server",
          config: { mcp_url: slow.url },
        });
        const turns = [call("slow__write_note", { text: "once" }), completeWithResults] as const;
        await addScript(platform, "penman", turns, [{ id: toolId }]);
        const [id = ""] = await startJobs(platform, "penman", 1);
        await begun.promise;
        await pause({ kind: "agent", name: "penman" }, "cut");
        await waitFor(async () => {
          const [row] = await sql`
            select exists (
              select from private.workers as worker join private.pauses as pause
              on worker.seen_at > pause.paused_at
            ) as is_told`;
          return row?.is_told === true;
        }, { what: "a heartbeat of the worker during the write" });
        gate.resolve();
        await untilTask(sql, id, "pending");
        await resume({ kind: "agent", name: "penman" });
        await untilTask(sql, id, "completed");

        assert.deepEqual(slow.notes, ["once"]);
        await assertNothingCounted(platform, [id]);
      } finally {
        await slow.stop();
      }
    });

    await t.step("each kind of pause stops its own work only", async () => {
      await addScript(platform, "free", [complete("ended")]);
      await addScript(platform, "held", [complete("ended")]);
      await addScript(platform, "noter", [
        call("desk__write_note", { text: "kinds" }),
        completeWithResults,
      ], [{ id: note }]);
      await addProvider(sql, { name: "second", baseUrl: await baseUrlOf(platform) });
      await addScript(platform, "theirs", [complete("ended")], [], "second");
      const kinds: readonly (Paused & { readonly agent: string; readonly key?: string })[] = [
        { kind: "agent", name: "held", agent: "held" },
        { kind: "key", name: "crm", agent: "free", key: "crm" },
        { kind: "provider", name: "second", agent: "theirs" },
        { kind: "server", name: "desk", agent: "noter" },
        { kind: "tool", name: "desk/write_note", agent: "noter" },
      ];
      for (const { kind, name, agent, key } of kinds) {
        await pause({ kind, name });
        const options = key === undefined ? {} : { concurrency_key: key };
        const held = await startJobs(platform, agent, 3, options);
        const [free = ""] = await startJobs(platform, "free", 1);
        await untilTask(sql, free, "completed");
        const waiting = await waitFor(async () => {
          const lists = await Promise.all(held.map((id) => paused(cast, id)));
          return lists.every((list) => list.length === 1) && lists.flat();
        }, { what: `three tasks that wait for the ${kind}` });
        assert.deepEqual(waiting.map((task) => [task.kind, task.name]), [
          [kind, name],
          [kind, name],
          [kind, name],
        ]);
        assert.deepEqual(await statuses(platform, held), { pending: 3 }, kind);
        await resume({ kind, name: name ?? null });
        for (const id of held) await untilTask(sql, id, "completed");
        await assertNothingCounted(platform, held);
      }
      const calls = server.notes.filter((text) => text === "kinds");
      assert.equal(calls.length, 6, "each job wrote once");
    });

    await t.step("a direct call of a paused tool is refused with the reason", async () => {
      await pause({ kind: "server", name: "desk" });
      const answer = await sendRequest(platform.project, {
        endpoint: "/functions/v1/mcp-execute",
        headers: { apikey: platform.stack.secretKey },
        body: { server: "desk", tool_name: "write_note", parameters: { text: "direct" } },
      });
      await resume({ kind: "server", name: "desk" });

      assert.equal(answer.status, 503, JSON.stringify(answer.body));
      assert.match(JSON.stringify(answer.body), /WORK_PAUSED.*An incident/);
      assert.equal(server.notes.includes("direct"), false);
    });

    await t.step("a paused schedule makes up for its missed runs with one run", async () => {
      const [schedule] = await sql`
        insert into public.schedules (name, agent, input, cron)
        values ('nightly', 'free', '"Go"', '*/5 * * * *') returning id`;
      const runs = async () => {
        await sql`update public.schedules set next_run_at = now() - interval '1 hour'
          where id = ${schedule?.id}`;
        await sql`select private.run_due_schedules()`;
        const [row] = await sql`
          select run_count::int, skipped_count::int, last_error from public.schedules
          where id = ${schedule?.id}`;
        return { ...row };
      };
      await pause({ kind: "schedule", name: "nightly" });
      const none = { run_count: 0, skipped_count: 0, last_error: null };
      assert.deepEqual(await runs(), none);
      assert.deepEqual(await runs(), none);
      await resume({ kind: "schedule", name: "nightly" });
      await sql`select private.run_due_schedules()`;
      const [after] = await sql`
        select run_count::int, skipped_count::int from public.schedules where id = ${schedule?.id}`;
      assert.deepEqual({ ...after }, { run_count: 1, skipped_count: 0 });
      await sql`delete from public.schedules where id = ${schedule?.id}`;
    });

    await t.step("a pause with an end ends by itself", async () => {
      const { error } = await operator.client.rpc("pause_work", {
        p_kind: "agent",
        p_name: "held",
        p_reason: "Until the deployment",
        p_until: new Date(Date.now() + 3_600_000).toISOString(),
      });
      assert.equal(error, null);
      const [id = ""] = await startJobs(platform, "held", 1);
      await waitFor(async () => (await paused(cast, id)).length === 1);
      await sql`update private.pauses set ends_at = clock_timestamp()`;
      await untilTask(sql, id, "completed");
    });

    await t.step("the list shows each reader what concerns them", async () => {
      const listener = await listen(cast.owner.client, "supaswarm:project");
      await pause({ kind: "project" });
      await listener.until("pauses.changed");
      await pause({ kind: "key", name: "somebody else's" });
      const read = async (client: typeof operator.client) =>
        (await client.from("paused_work").select("kind,name,reason,paused_by")).data;

      const project = { kind: "project", name: "", reason: "An incident" };
      assert.deepEqual(await read(cast.owner.client), [{ ...project, paused_by: null }]);
      const theirs = await read(operator.client);
      assert.deepEqual(theirs?.map(({ kind }) => kind), ["project", "key"]);
      assert.match(theirs?.[0]?.paused_by ?? "", /@/);
      assert.notEqual((await cast.anon.from("paused_work").select("kind")).error, null);
      await resume({ kind: "project" });
      await resume({ kind: "key", name: "somebody else's" });
    });

    await t.step("users without the scope and anonymous callers are refused", async () => {
      const args = { p_kind: "project", p_name: null, p_reason: "Mischief" };
      for (const client of [cast.owner.client, cast.anon]) {
        for (const name of ["pause_work", "resume_work"]) {
          const { p_reason: _, ...rest } = args;
          const { status } = await client.rpc(name, name === "pause_work" ? args : rest);
          assert.ok(status === 401 || status === 403, `${name}: ${status}`);
        }
      }
      const [row] = await sql`select count(*)::int as count from private.pauses`;
      assert.equal(row?.count, 0);
    });

    await t.step("unknown names and impossible choices are refused", async () => {
      const refused = async (kind: string, name: string | null, running: string) => {
        const { error } = await operator.client.rpc("pause_work", {
          p_kind: kind,
          p_name: name,
          p_reason: "A reason",
          p_running: running,
        });
        return [error?.details, error?.hint];
      };
      const [code, hint] = await refused("agent", "hled", "finish");
      assert.deepEqual([code, /Did you mean "held"/.test(hint ?? "")], ["PAUSE_INVALID", true]);
      for (
        const [kind, name, running] of [
          ["project", "x", "finish"],
          ["planet", "x", "finish"],
          ["server", "desk", "cut"],
          ["agent", "held", "stop"],
        ] as const
      ) assert.equal((await refused(kind, name, running))[0], "PAUSE_INVALID", kind);
    });

    await t.step("the record has who paused what and why", async () => {
      const { data } = await operator.client.from("operator_acts")
        .select("act,operator_id,reason,details").eq("act", "work.paused").limit(1)
        .order("id");
      assert.deepEqual(data, [{
        act: "work.paused",
        operator_id: operator.id,
        reason: "An incident",
        details: { kind: "project", running: "finish" },
      }]);
    });
  } finally {
    await server.stop();
  }

  async function paused({ service }: Cast, jobId: string) {
    const { data, error } = await service.rpc("paused_tasks", { p_master_task_id: jobId });
    assert.equal(error, null);
    return data as { task_id: string; kind: string; name: string; reason: string }[];
  }
});

async function addScript(
  { sql, stack: { models } }: Platform,
  slug: string,
  turns: readonly [Turn, ...Turn[]],
  tools: readonly ToolGrant[] = [],
  provider = "demo",
): Promise<void> {
  models.addAgent(scriptTurns(slug, ...turns));
  await addAgent(sql, { slug, tools, provider });
}

async function baseUrlOf({ sql }: Platform): Promise<string> {
  const [row] = await sql`select base_url from public.llm_providers where name = 'demo'`;
  return String(row?.base_url);
}

async function startJobs(
  { project, stack: { secretKey } }: Platform,
  agent: string,
  count: number,
  options: JsonObject = {},
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const body = { agent, input: `Part ${index}`, ...options };
    ids.push(created(await sendRequest(project, { headers: { apikey: secretKey }, body })).task_id);
  }
  return ids;
}

/** What another worker would be given now. */
async function claimed({ sql }: Platform): Promise<string[]> {
  const rows = await sql`select task_id from private.claim_tasks('another', 50, 60)`;
  return rows.map(({ task_id }) => String(task_id));
}

async function statuses({ sql }: Platform, ids: readonly string[]) {
  const rows = await sql`
    select status, count(*)::int as count from public.tasks
    where id = any (array(select jsonb_array_elements_text(${sql.json([...ids])})::uuid))
    group by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** No attempt, no delivery and no failure was counted, and no step failed. */
async function assertNothingCounted(
  platform: Platform,
  ids: readonly string[],
): Promise<void> {
  const { sql } = platform;
  const rows = await sql`
    select task.id from public.tasks as task
    where task.id = any (array(select jsonb_array_elements_text(${sql.json([...ids])})::uuid))
      and (task.attempts > 0 or task.deliveries > 1 or task.yields > 0 or task.rate_limit_waits > 0
        or task.warnings <> '[]' or task.failing_since is not null
        or exists (select from private.dead_letters as letter where letter.task_id = task.id))`;
  assert.deepEqual([...rows], []);
  for (const id of ids) {
    const steps = await readSteps(sql, id);
    assert.deepEqual(steps.filter(({ state }) => state !== "done"), [], "each step ended well");
  }
}
