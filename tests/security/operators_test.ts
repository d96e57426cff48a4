import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { addAgent } from "../e2e/operator.ts";
import { bootPlatform } from "../e2e/platform.ts";
import { castOf, type Person } from "./cast.ts";
import { listen, tryToListen } from "./ear.ts";

/** Every endpoint of operators: views, and functions with arguments that nothing has. */
const VIEWS = [
  "operator_acts",
  "operator_dead_letters",
  "operator_queue_health",
  "operator_servers",
  "operator_stuck_tasks",
  "operator_tool_definitions",
  "operator_workers",
];
const NOTHING = "00000000-0000-4000-8000-000000000000";
const FUNCTIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  operator_cancel_job: { p_master_task_id: NOTHING },
  operator_retry_task: { p_task_id: NOTHING },
  operator_redrive: { p_dead_letter_id: 0 },
  operator_list_jobs: {},
  operator_job_counts: {},
  operator_read_trace: { p_master_task_id: NOTHING },
  approve_tool_definition: { p_connection_id: NOTHING, p_tool_name: "" },
};

Deno.test("operators look after the jobs of all, and nobody else does", async (t) => {
  await using platform = await bootPlatform();
  await using cast = await castOf(platform);
  const { sql, stack } = platform;
  // The stranger is the operator here: nothing is theirs.
  const { owner, stranger: operator } = cast;
  await addAgent(sql, { slug: "quiet" });
  const [job] = await sql<{ task_id: string }[]>`
    select task_id from private.create_task('quiet', '{}', ${owner.id}, p_run_after => now() + interval '300 days')`;
  const jobId = job?.task_id ?? "";

  const statusesFor = async (person: Person) => {
    const headers = {
      apikey: stack.publishableKey,
      authorization: `Bearer ${person.accessToken}`,
      "content-type": "application/json",
    };
    const requests: Readonly<Record<string, RequestInit>> = {
      ...Object.fromEntries(VIEWS.map((view) => [view, { headers }])),
      ...Object.fromEntries(
        Object.entries(FUNCTIONS).map(([name, args]) => [
          `rpc/${name}`,
          { method: "POST", headers, body: JSON.stringify(args) },
        ]),
      ),
    };
    const statuses: Record<string, number> = {};
    for (const [path, request] of Object.entries(requests)) {
      const response = await fetch(`${stack.apiUrl}/rest/v1/${path}`, request);
      await response.body?.cancel();
      statuses[path] = response.status;
    }
    return statuses;
  };
  const refused = Object.fromEntries(
    [...VIEWS, ...Object.keys(FUNCTIONS).map((name) => `rpc/${name}`)].map((path) => [path, 403]),
  );

  await t.step("a user gets 403 at each endpoint of operators", async () => {
    assert.deepEqual(await statusesFor(owner), refused);
  });

  await t.step("a user whose grant has swarm:operate passes each of them", async () => {
    await sql`select public.grant_scopes(${operator.id}, '{swarm:operate}')`;
    const statuses = await statusesFor(operator);
    assert.deepEqual(Object.entries(statuses).filter(([, status]) => status === 403), []);
    assert.deepEqual(VIEWS.map((view) => statuses[view]), VIEWS.map(() => 200));
  });

  await t.step("an operator joins the channels of a job, but nobody's own", async () => {
    const ear = await listen(operator.client, `supaswarm:master:${jobId}`, { isPrivate: true });
    const { error, data } = await operator.client.rpc("operator_cancel_job", {
      p_master_task_id: jobId,
      p_reason: "It is not needed",
    });
    assert.deepEqual([error, data], [null, 1]);
    await waitFor(() => ear.heard.includes("task.cancelled"), { what: "the job's end" });
    const theirs = `supaswarm:user:${owner.id}`;
    assert.equal(await tryToListen(operator.client, theirs, { isPrivate: true }), "CHANNEL_ERROR");
  });

  await t.step("the act says who did what to whom, and why", async () => {
    const { data: acts } = await operator.client.from("operator_acts")
      .select("operator_id,act,owner_id,master_task_id,reason");
    assert.deepEqual(acts, [{
      operator_id: operator.id,
      act: "job.cancelled",
      owner_id: owner.id,
      master_task_id: jobId,
      reason: "It is not needed",
    }]);
  });

  await t.step("a grant that is withdrawn counts no longer with the next request", async () => {
    await sql`
      update public.mcp_grants set scopes = array_remove(scopes, 'swarm:operate')
      where user_id = ${operator.id}`;
    assert.deepEqual(await statusesFor(operator), refused);
    const topic = `supaswarm:task:${jobId}`;
    assert.equal(await tryToListen(operator.client, topic, { isPrivate: true }), "CHANNEL_ERROR");
  });
});
