import assert from "node:assert/strict";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { castOf } from "../security/cast.ts";
import { addAgent } from "./operator.ts";

Deno.test("a user's webhook receives the job that the user's schedule started", async () => {
  const heard = Promise.withResolvers<{ headers: Headers; body: string }>();
  const receiver = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      heard.resolve({ headers: request.headers, body: await request.text() });
      return new Response(null, { status: 204 });
    },
  );
  try {
    const platform = await sharedPlatform();
    await using cast = await castOf(platform);
    const { client } = cast.owner;
    await addAgent(platform.sql, { slug: "scheduled" });

    const webhook = await client.from("webhooks")
      .insert({ url: `http://127.0.0.1:${receiver.addr.port}/in`, events: ["task.created"] })
      .select().single();
    assert.equal(webhook.error, null, JSON.stringify(webhook.error));
    const times = await client.rpc("next_schedule_times", { p_cron: "*/5 * * * *" });
    assert.equal(times.data?.length, 5, JSON.stringify(times.error));
    const schedule = await client.from("schedules")
      .insert({ agent: "scheduled", input: "Write it", cron: "*/5 * * * *" })
      .select().single();
    assert.equal(schedule.error, null, JSON.stringify(schedule.error));
    assert.equal(Date.parse(schedule.data.next_run_at), Date.parse(times.data[0]));

    await platform.sql`
      update public.schedules set next_run_at = now() - interval '1 hour'
      where id = ${schedule.data.id}::uuid`;
    // As the scheduler does every 15 seconds.
    await platform.sql`select private.run_due_schedules()`;

    const { headers, body } = await heard.promise;
    const { type, data } = JSON.parse(body);
    assert.equal(type, "task.created");
    const { data: job } = await client.from("tasks").select("metadata").eq("id", data.task_id)
      .single();
    assert.equal(job?.metadata.schedule.id, schedule.data.id);
    const { data: log } = await client.from("webhook_messages").select("id").single();
    assert.equal(log?.id, headers.get("webhook-id"));
  } finally {
    await receiver.shutdown();
  }
});
