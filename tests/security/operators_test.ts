import assert from "node:assert/strict";
import { addAgent } from "../e2e/operator.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { castOf, type Person } from "./cast.ts";
import { listen, tryToListen } from "../e2e/channel_listener.ts";
import { OPERATOR_VIEWS, operatorStatuses, REFUSED_EVERYWHERE } from "./operator_endpoints.ts";

Deno.test("only operators manage the jobs of all users", async (t) => {
  await using platform = await sharedPlatform();
  await using cast = await castOf(platform);
  const { sql } = platform;
  // The stranger is the operator here: it owns nothing.
  const { owner, stranger: operator } = cast;
  await addAgent(sql, { slug: "quiet-operators" });
  const [job] = await sql<{ task_id: string }[]>`
    select task_id from private.create_task('quiet-operators', '{}', ${owner.id}, p_run_after => now() + interval '300 days')`;
  const jobId = job?.task_id ?? "";

  const statusesFor = ({ accessToken }: Person) => operatorStatuses(platform.project, accessToken);

  await t.step("a user gets 403 at each operator endpoint", async () => {
    assert.deepEqual(await statusesFor(owner), REFUSED_EVERYWHERE);
  });

  await t.step("a user whose grant has swarm:operate can use each of them", async () => {
    await sql`select public.grant_scopes(${operator.id}, '{swarm:operate}')`;
    const statuses = await statusesFor(operator);
    assert.deepEqual(Object.entries(statuses).filter(([, status]) => status === 403), []);
    assert.deepEqual(OPERATOR_VIEWS.map((view) => statuses[view]), OPERATOR_VIEWS.map(() => 200));
  });

  await t.step("an operator reads a job, with its channels, only after opening it", async () => {
    const topic = `supaswarm:master:${jobId}`;
    assert.equal(await tryToListen(operator.client, topic), "REFUSED");
    const rows = () =>
      operator.client.rpc("operator_tasks", { p_task_id: jobId }).select("id,input");
    const { error: closed, status } = await rows();
    assert.deepEqual([status, closed?.details], [403, "JOB_NOT_OPENED"]);
    const path = `${jobId}/${jobId}/report.md`;
    const stored = await cast.service.storage.from("supaswarm-data").upload(path, "All is well");
    assert.equal(stored.error, null);
    await sql`update public.tasks set storage_paths = array[${path}] where id = ${jobId}`;
    const download = () => operator.client.storage.from("supaswarm-data").download(path);
    assert.notEqual((await download()).error, null, "its files are closed too");
    const { error: hasty } = await operator.client.rpc("operator_open_job", {
      p_task_id: jobId,
      p_reason: " ",
    });
    assert.equal(hasty?.details, "REASON_INVALID");
    const { data: openUntil } = await operator.client.rpc("operator_open_job", {
      p_task_id: jobId,
      p_reason: "Its owner asked",
    });
    assert.ok(Date.parse(openUntil) > Date.now());
    const { data } = await rows().eq("id", jobId);
    assert.deepEqual(data, [{ id: jobId, input: {} }]);
    assert.equal(await (await download()).data?.text(), "All is well");
    const { data: owned } = await operator.client.from("tasks").select("id");
    assert.deepEqual(owned, [], "the tables of owners stay closed");
  });

  await t.step(
    "an operator can join the channels of an open job, but no user channel",
    async () => {
      const listener = await listen(operator.client, `supaswarm:master:${jobId}`);
      const { error, data } = await operator.client.rpc("operator_cancel_job", {
        p_master_task_id: jobId,
        p_reason: "It is not needed",
      });
      assert.deepEqual([error, data], [null, 1]);
      await listener.until("task.cancelled");
      const theirs = `supaswarm:user:${owner.id}`;
      assert.equal(await tryToListen(operator.client, theirs), "REFUSED");
    },
  );

  await t.step("the record names operator, action, target and reason", async () => {
    const { data: acts } = await operator.client.from("operator_acts")
      .select("operator_id,act,owner_id,master_task_id,reason").eq("operator_id", operator.id);
    const act = { operator_id: operator.id, owner_id: owner.id, master_task_id: jobId };
    assert.deepEqual(acts, [
      { ...act, act: "job.cancelled", reason: "It is not needed" },
      { ...act, act: "job.opened", reason: "Its owner asked" },
    ]);
  });

  await t.step("the owner reads who looked and why, also in the event", async () => {
    const { data: acts } = await owner.client.rpc("list_operator_acts", { p_task_id: jobId })
      .select("act,reason");
    assert.deepEqual(acts, [
      { act: "job.cancelled", reason: "It is not needed" },
      { act: "job.opened", reason: "Its owner asked" },
    ]);
    const { data: event } = await owner.client.from("task_events").select("payload")
      .eq("task_id", jobId).eq("type", "task.cancelled").single();
    const { by, reason } = event?.payload ?? {};
    assert.deepEqual([by, reason], ["operator", "It is not needed"]);
  });

  await t.step("a withdrawn grant no longer counts from the next request", async () => {
    await sql`
      update public.mcp_grants set scopes = array_remove(scopes, 'swarm:operate')
      where user_id = ${operator.id}`;
    assert.deepEqual(await statusesFor(operator), REFUSED_EVERYWHERE);
    const topic = `supaswarm:task:${jobId}`;
    assert.equal(await tryToListen(operator.client, topic), "REFUSED");
  });
});
