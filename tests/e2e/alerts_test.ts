import assert from "node:assert/strict";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { castOf } from "../security/cast.ts";
import { addAgent, addProvider } from "./operator.ts";
import { untilTask } from "./task_view.ts";

Deno.test("a webhook of the service hears that an agent's jobs fail", async () => {
  const heard = Promise.withResolvers<string>();
  const receiver = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      heard.resolve(await request.text());
      return new Response(null, { status: 204 });
    },
  );
  const platform = await sharedPlatform();
  const { sql } = platform;
  await using cast = await castOf(platform);
  const { service } = cast;
  try {
    await addProvider(sql, {
      name: "alert-models",
      baseUrl: "http://127.0.0.1:1",
      secretName: "ALERT_MODELS_KEY",
    });
    await addAgent(sql, { slug: "alert-worker", provider: "alert-models" });
    const created = await cast.owner.client.functions.invoke("supaswarm-create-task", {
      body: { agent: "alert-worker", input: "Fail" },
    });
    await untilTask(sql, created.data.task_id, "failed");

    const webhook = await service.from("webhooks").insert({
      name: "alert-receiver",
      url: `http://127.0.0.1:${receiver.addr.port}/in`,
      events: ["alert.raised"],
    });
    assert.equal(webhook.error, null, JSON.stringify(webhook.error));
    const alert = await service.from("alerts").insert({
      name: "alert-worker fails",
      measure: "failure_rate",
      above: 0.5,
      agent: "alert-worker",
      at_least: 1,
    });
    assert.equal(alert.error, null, JSON.stringify(alert.error));
    // As the scheduler does every 15 seconds.
    await sql`select private.check_alerts()`;

    const { timestamp, ...message } = JSON.parse(await heard.promise);
    assert.deepEqual(message, {
      type: "alert.raised",
      data: {
        alert: "alert-worker fails",
        measure: "failure_rate",
        value: 1,
        above: 0.5,
        agent: "alert-worker",
      },
    });
    assert.ok(Date.parse(timestamp) <= Date.now());
    const { data: raised } = await service.from("operator_alerts").select("value, raised_at")
      .eq("name", "alert-worker fails").single();
    assert.equal(raised?.value, 1);
    assert.notEqual(raised?.raised_at, null);
  } finally {
    await service.from("alerts").delete().eq("name", "alert-worker fails");
    await service.from("webhooks").delete().eq("name", "alert-receiver");
    await receiver.shutdown();
  }
});

Deno.test("an alert that is not valid is refused with what to do", async () => {
  await using cast = await castOf(await sharedPlatform());

  const { error } = await cast.service.from("alerts").insert({
    name: "alert-wrong",
    measure: "failure_rte",
    above: 0.5,
  });

  assert.equal(error?.details, "ALERT_INVALID");
  assert.equal(error?.message, 'Cannot save the alert "alert-wrong": measure is "failure_rte"');
  assert.match(error?.hint ?? "", /Did you mean "failure_rate"/);
});
