import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { scriptTurns } from "../e2e/script.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { type Cast, castOf, type Person } from "../security/cast.ts";

/** Advisory locks for which functions wait; the test holds one of them. */
const HELD_LOCK = 4_711;
const FREE_LOCK = 4_712;

/** The limits of one user, as seen by a client of the platform. */
Deno.test("no user can starve the others", async (t) => {
  // Concurrent statements need a database that runs several at once.
  await using platform = await bootPlatform({ db: "native" });
  await using cast = await castOf(platform);
  const { sql, stack: { models } } = platform;
  models.addAgent(
    scriptTurns(
      "saver",
      {
        toolCalls: ["a", "b", "report.md"].map((key) => ({
          name: "save_intermediate_data",
          arguments: { key, value: "x".repeat(600) },
        })),
      },
      { toolCalls: [{ name: "complete_task", arguments: { output: "saved" } }] },
    ),
  );
  await addAgent(sql, { slug: "saver" });

  await t.step("creations above the quota get 429 with quota, size and time", async () => {
    await setQuota(platform, "task_creations_per_minute", 1);
    const first = await createTask(platform, cast.owner);
    const second = await createTask(platform, cast.owner);
    const other = await createTask(platform, cast.stranger);

    assert.equal(first.status, 201);
    assert.equal(other.status, 201, "another user is not affected");
    assert.equal(second.status, 429);
    const retryAfter = Number(second.headers.get("retry-after"));
    assert.ok(retryAfter >= 1 && retryAfter <= 60, `retry-after is ${retryAfter}`);
    const { error } = second.body;
    assert.equal(error?.code, "QUOTA_EXCEEDED");
    assert.match(error?.message ?? "", /task_creations_per_minute of 1/);
    await setQuota(platform, "task_creations_per_minute", 600);
  });

  await t.step("a task cannot store more than its owner's quota, and reads why", async () => {
    await setQuota(platform, "stored_bytes", 1_000);
    await sql`delete from private.quota_minutes`;
    const steps = await stepsOf(platform, await createTask(platform, cast.owner));

    const saves = steps.filter(({ name }) => name === "save_intermediate_data");
    assert.deepEqual(saves.map(({ state }) => state), ["done", "failed", "failed"]);
    assert.match(JSON.stringify(saves[1]?.output), /stored_bytes.*QUOTA_EXCEEDED/);
    await setQuota(platform, "stored_bytes", 1_000_000);
    const more = await stepsOf(platform, await createTask(platform, cast.owner));
    const states = more.filter(({ name }) => name === "save_intermediate_data").map((s) => s.state);
    assert.deepEqual(states, ["done", "done", "done"], "a larger quota lets it save");
  });

  await t.step("fresh listings are counted, cached ones are not", async () => {
    await setQuota(platform, "tool_list_refreshes_per_minute", 1);

    assert.equal((await listTools(platform, cast, "&refresh=true")).status, 200);
    const refused = await listTools(platform, cast, "&refresh=true");
    const cached = await listTools(platform, cast, "");

    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    await refused.body?.cancel();
    assert.equal(cached.status, 200);
    await cached.body?.cancel();
  });

  await t.step("a start more than a year away is refused", async () => {
    const inTwoYears = new Date(Date.now() + 2 * 365 * 86_400_000).toISOString();
    const answer = await createTask(platform, cast.owner, { run_after: inTwoYears });

    assert.equal(answer.status, 400);
    assert.equal(answer.body.error?.code, "TASK_RUN_AFTER_INVALID");
  });

  await t.step("slow database functions of one user leave a connection for others", async () => {
    await sql.unsafe(`
      create function public.nap(p_lock int) returns text language sql stable as $$
        select 'slept' from pg_advisory_xact_lock_shared(p_lock) $$;
      grant execute on function public.nap to authenticated;
      insert into public.tools (name, slug, type, config)
      values ('Nap', 'nap', 'supabase_rpc', '{"function": "public.nap"}')`);
    for (const { id } of [cast.owner, cast.stranger]) {
      await sql`select public.grant_scopes(${id}::uuid, array['mcp:nap'])`;
    }
    const warm = await nap(platform, cast.stranger, FREE_LOCK);
    assert.equal(warm.body.isError ?? false, false, JSON.stringify(warm.body));

    const { slow, quick } = await sql.begin(async (holder) => {
      await holder`select pg_advisory_xact_lock(${HELD_LOCK})`;
      const slow = [1, 2, 3].map(() => nap(platform, cast.owner, HELD_LOCK));
      await waitFor(async () => {
        const [row] = await sql`
          select count(*)::int as count from pg_locks
          where locktype = 'advisory' and objid = ${HELD_LOCK} and not granted`;
        return Number(row?.count) > 0;
      }, { what: "a slow function that runs" });
      return { slow, quick: await nap(platform, cast.stranger, FREE_LOCK) };
    });
    const first = await Promise.race(slow.map(async (call) => (await call).status));

    assert.equal(quick.status, 200);
    assert.equal(quick.body.isError ?? false, false, JSON.stringify(quick.body));
    assert.equal(first, 200);
    await Promise.all(slow);
  });

  await t.step("a null in a budget does not remove the operator's ceiling", async () => {
    await sql`insert into private.quotas (name, amount) values ('max_steps', 1)`;
    const created = await createTask(platform, cast.owner, { budget: { max_steps: null } });
    const task = await ended(platform, created);

    assert.equal(task.status, "failed");
    assert.equal(task.error?.code, "STEPS_EXCEEDED");
    await sql`delete from private.quotas where name = 'max_steps'`;
  });
});

interface Created {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly task_id?: string;
    readonly error?: { readonly code: string; readonly message: string };
  };
}

async function createTask(
  { project }: Platform,
  person: Person,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Created> {
  const answer = await fetch(`${project.apiUrl}/functions/v1/supaswarm-create-task`, {
    method: "POST",
    headers: {
      apikey: project.publishableKey,
      authorization: `Bearer ${person.accessToken}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ agent: "saver", input: "save", ...more }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

function listTools({ project }: Platform, cast: Cast, query: string): Promise<Response> {
  return fetch(`${project.apiUrl}/functions/v1/mcp-execute?server=quoth${query}`, {
    headers: {
      apikey: project.publishableKey,
      authorization: `Bearer ${cast.owner.accessToken}`,
    },
  });
}

async function nap({ project }: Platform, person: Person, lock: number) {
  const answer = await fetch(`${project.apiUrl}/functions/v1/mcp-execute`, {
    method: "POST",
    headers: {
      apikey: project.publishableKey,
      authorization: `Bearer ${person.accessToken}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ server: "nap", tool_name: "nap", parameters: { p_lock: lock } }),
  });
  return { status: answer.status, body: await answer.json() };
}

async function setQuota({ sql }: Platform, name: string, amount: number): Promise<void> {
  await sql`update private.quotas set amount = ${amount}::bigint where name = ${name}`;
}

async function ended({ sql }: Platform, { body }: Created) {
  return await waitFor(async () => {
    const [task] = await sql<{ status: string; error: { code: string } | null }[]>`
      select status, error from public.tasks where id = ${body.task_id ?? null}::uuid`;
    return task !== undefined && ["completed", "failed"].includes(task.status) && task;
  }, { what: "the end of the task" });
}

async function stepsOf(platform: Platform, created: Created) {
  await ended(platform, created);
  return await platform.sql<{ name: string; state: string; output: unknown }[]>`
    select name, state, output from public.task_steps
    where task_id = ${created.body.task_id ?? null}::uuid order by seq`;
}
