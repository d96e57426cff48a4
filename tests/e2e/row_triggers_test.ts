import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { castOf } from "../security/cast.ts";
import { addAgent } from "./operator.ts";

Deno.test("rows that clients write over the REST API start jobs", async (t) => {
  const platform = await sharedPlatform();
  const { sql } = platform;
  await using cast = await castOf(platform);
  const { owner, stranger, anon, service } = cast;
  await addAgent(sql, { slug: "row-reader" });
  await sql.unsafe(`
    create table public.e2e_orders (id int primary key, user_id uuid, status text);
    alter table public.e2e_orders enable row level security;
    create policy "everybody writes" on public.e2e_orders for all using (true);
    grant all on public.e2e_orders to anon, authenticated, service_role;
    notify pgrst, 'reload schema';
  `).simple();
  await waitFor(async () => (await service.from("e2e_orders").select()).error === null);
  const save = async (changes: Readonly<Record<string, unknown>>) => {
    const { error } = await service.from("row_triggers").upsert({
      name: "e2e-orders",
      table_name: "e2e_orders",
      events: ["insert", "update"],
      columns: ["status"],
      conditions: [{ column: "status", op: "eq", value: "paid" }],
      agent: "row-reader",
      input: { order: "id" },
      owner_column: "user_id",
      ...changes,
    }, { onConflict: "name" });
    assert.equal(error, null, JSON.stringify(error));
  };
  await save({});
  const jobOf = (id: number) =>
    waitFor(async () => {
      const [job] = await sql`
        select id, created_by from public.tasks where metadata @> ${
        sql.json({ trigger: { name: "e2e-orders", row: String(id) } })
      }`;
      return job;
    });
  const startOf = (id: number) =>
    waitFor(async () => {
      const { data, error } = await service.from("operator_row_starts").select()
        .eq("trigger", "e2e-orders").eq("row_key", String(id)).eq("status", "failed");
      assert.equal(error, null, JSON.stringify(error));
      return data[0];
    });

  await t.step("the job belongs to the user, who sees it", async () => {
    const { error } = await owner.client.from("e2e_orders")
      .insert({ id: 1, user_id: owner.id, status: "paid" });
    assert.equal(error, null, JSON.stringify(error));

    const job = await jobOf(1);

    assert.equal(job.created_by, owner.id);
    const own = await owner.client.from("tasks").select("input").eq("id", job.id).single();
    assert.deepEqual(own.data?.input, { order: 1 });
    const hidden = await stranger.client.from("tasks").select().eq("id", job.id);
    assert.deepEqual(hidden.data, []);
  });

  await t.step("nobody starts a job for another user, but the row is saved", async () => {
    const row = { user_id: owner.id, status: "paid" };
    const saved = [
      await stranger.client.from("e2e_orders").insert({ id: 2, ...row }),
      await anon.from("e2e_orders").insert({ id: 3, ...row }),
    ];

    assert.deepEqual(saved.map(({ status }) => status), [201, 201]);
    const start = await startOf(2);
    assert.deepEqual([start.code, start.owner_id], ["FORBIDDEN", stranger.id]);
    const { data } = await service.from("operator_row_starts").select("code, row_key")
      .eq("trigger", "e2e-orders").is("row_key", null);
    assert.deepEqual(data, [{ code: "FORBIDDEN", row_key: null }]);
  });

  await t.step("the service starts it for the owner of the row", async () => {
    await service.from("e2e_orders").insert({ id: 4, user_id: owner.id, status: "new" });
    await service.from("e2e_orders").update({ status: "paid" }).eq("id", 4);

    assert.equal((await jobOf(4)).created_by, owner.id);
  });

  await t.step("a start that failed is retried when its cause is gone", async () => {
    await sql`update public.agents set is_active = false where slug = 'row-reader'`;
    const { error } = await owner.client.from("e2e_orders")
      .insert({ id: 5, user_id: owner.id, status: "paid" });
    assert.equal(error, null, JSON.stringify(error));
    assert.equal((await startOf(5)).code, "AGENT_INACTIVE");
    await sql`update public.agents set is_active = true where slug = 'row-reader'`;

    const { data } = await service.rpc("operator_retry_row_starts", { p_trigger: "e2e-orders" });

    assert.equal(data, 1);
    assert.equal((await jobOf(5)).created_by, owner.id);
  });

  await t.step("users see neither triggers nor starts", async () => {
    const { client } = owner;
    const triggers = await client.from("row_triggers").select();
    const starts = await client.from("operator_row_starts").select();
    const retried = await client.rpc("operator_retry_row_starts", { p_trigger: "e2e-orders" });

    assert.equal(triggers.error?.code, "42501");
    assert.deepEqual([starts, retried].map(({ status }) => status), [403, 403]);
  });

  await t.step("a wrong definition is refused with its field", async () => {
    const { error } = await service.from("row_triggers").update({ owner_column: "status" })
      .eq("name", "e2e-orders");

    assert.equal(error?.details, "TRIGGER_INVALID");
    assert.match(error?.message ?? "", /owner_column is "status", which is not of the type uuid/);
  });

  await sql`delete from public.row_triggers where name = 'e2e-orders'`;
  await sql`drop table public.e2e_orders`;
});
