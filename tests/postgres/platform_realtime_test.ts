import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { asRole, startNativeServer } from "./native_server.ts";

async function listen(admin: Sql, channel: string): Promise<string[]> {
  const payloads: string[] = [];
  await admin.listen(channel, (payload) => void payloads.push(payload));
  return payloads;
}

Deno.test("realtime.send() and its relatives", async (t) => {
  await using server = await startNativeServer();
  const { sql, admin } = server;

  await t.step("a message is stored with an id and announced at commit", async () => {
    const announced = await listen(admin, "supaswarm_realtime");

    await sql`select realtime.send('{"n": 1}', 'ping', 'room:1')`;
    const [payload] = await waitFor(() => announced.length > 0 && announced);

    const [message] = await sql`
      select * from realtime.messages where id = ${JSON.parse(payload ?? "{}").id}`;
    assert.equal(message?.payload.n, 1);
    assert.equal(message?.payload.id, message?.id);
    assert.deepEqual(
      [message?.event, message?.topic, message?.private, message?.extension],
      ["ping", "room:1", true, "broadcast"],
    );
  });

  await t.step("a payload's own id is kept", async () => {
    await sql`select realtime.send('{"id": "mine"}', 'ping', 'room:2', false)`;

    const [message] =
      await sql`select payload, private from realtime.messages where topic = 'room:2'`;
    assert.deepEqual({ ...message }, { payload: { id: "mine" }, private: false });
  });

  await t.step("a message that cannot be stored is lost without an error", async () => {
    await asRole(sql, "authenticated", async (tx) => {
      await tx`select realtime.send('{"n": 1}', 'ping', 'room:3')`;
      await tx`select 1`;
    });
    await sql`select realtime.send('3', 'ping', 'room:3')`;

    const messages = await sql`select from realtime.messages where topic = 'room:3'`;
    assert.equal(messages.length, 0);
  });

  await t.step("a policy that reads realtime.topic() opens a topic", async () => {
    await sql`
      create policy "write room 4" on realtime.messages for insert to authenticated
        with check (realtime.topic() = 'room:4' and extension = 'broadcast')`;
    await sql.begin(async (tx) => {
      await tx`set local role authenticated`;
      await tx`select realtime.send('{"n": 1}', 'ping', 'room:4')`;
      await tx`select realtime.send('{"n": 1}', 'ping', 'room:5')`;
    });

    const topics =
      await sql`select topic from realtime.messages where topic in ('room:4', 'room:5')`;
    assert.deepEqual(topics.map((row) => row.topic), ["room:4"]);
  });

  await t.step("send_binary() stores bytes and no payload", async () => {
    await sql`select realtime.send_binary('\\x0102', 'bytes', 'room:6')`;

    const [message] = await sql`
      select encode(binary_payload, 'hex') as hex, payload from realtime.messages
      where topic = 'room:6'`;
    assert.deepEqual({ ...message }, { hex: "0102", payload: null });
  });

  await t.step("broadcast_changes() in a row trigger sends both records", async () => {
    await sql.unsafe(`
      create table public.cars (id int primary key, name text);
      create function public.on_car() returns trigger language plpgsql security definer as $$
        begin
          perform realtime.broadcast_changes(
            'cars', tg_op, tg_op, tg_table_name, tg_table_schema, new, old);
          return null;
        end $$;
      create trigger on_car after insert or update or delete on public.cars
        for each row execute function public.on_car();
      insert into public.cars values (1, 'a');
      update public.cars set name = 'b';
      delete from public.cars;
    `).simple();

    const messages = await sql`
      select payload - 'id' as payload from realtime.messages where topic = 'cars'`;
    const [a, b] = [{ id: 1, name: "a" }, { id: 1, name: "b" }];
    const wanted = [["INSERT", a, null], ["UPDATE", b, a], ["DELETE", null, b]];
    assert.deepEqual(
      messages.map(({ payload }) => [payload.operation, payload.record, payload.old_record])
        .sort((x, y) =>
          wanted.findIndex(([op]) => op === x[0]) - wanted.findIndex(([op]) => op === y[0])
        ),
      wanted,
    );
    await assert.rejects(
      sql`select realtime.broadcast_changes('t', 'e', 'TRUNCATE', 'cars', 'public', null, null)`,
      /Unexpected operation/,
    );
  });
});

Deno.test("the change feed follows the publication", async (t) => {
  await using server = await startNativeServer();
  const { sql, admin } = server;
  await sql.unsafe(`
    create table public.items (id int primary key, size bigint, secret text);
    create table public.others (id int primary key);
    alter publication supabase_realtime add table public.items (id, size), public.others;
  `).simple();
  const changes = async () => {
    const rows = await admin`
      delete from realtime.stack_changes
      returning id, schema_name || '.' || table_name as name, operation, record, old_record, columns`;
    return rows.sort((a, b) => Number(a.id) - Number(b.id))
      .map(({ name, operation, record, old_record }) => [name, operation, record, old_record]);
  };

  await t.step("nothing is recorded without a subscriber", async () => {
    await sql`insert into public.items values (1, 1, 's')`;

    assert.deepEqual(await changes(), []);
  });

  await admin`
    insert into realtime.subscription (subscription_id, entity, claims)
    select gen_random_uuid(), entity, '{"role": "authenticated"}'
    from unnest(array['public.items', 'public.others']::regclass[]) as entity`;

  await t.step("a change has the published columns and the old row's identity", async () => {
    const announced = await listen(admin, "supaswarm_cdc");
    await sql`insert into public.items values (2, 9007199254740993, 's')`;
    await sql`update public.items set size = 3 where id = 2`;
    await sql`delete from public.items where id = 2`;
    await waitFor(() => announced.length === 3);

    const [, type] = (await admin`select columns from realtime.stack_changes limit 1`)[0]?.columns;
    assert.deepEqual(type, { name: "size", type: "int8" });
    assert.deepEqual((await changes()).slice(1), [
      ["public.items", "UPDATE", { id: 2, size: 3 }, { id: 2 }],
      ["public.items", "DELETE", null, { id: 2 }],
    ]);
  });

  await t.step("with replica identity full it has the whole old row", async () => {
    await sql`alter table public.items replica identity full`;
    await sql`alter publication supabase_realtime set table public.items`;
    await sql`update public.items set size = 4 where id = 1`;

    assert.deepEqual(await changes(), [
      [
        "public.items",
        "UPDATE",
        { id: 1, size: 4, secret: "s" },
        { id: 1, size: 1, secret: "s" },
      ],
    ]);
  });

  await t.step("a table that left the publication sends nothing", async () => {
    await sql`insert into public.others values (1)`;
    await sql`alter publication supabase_realtime drop table public.items`;
    await sql`update public.items set size = 5`;

    assert.deepEqual(await changes(), []);
  });

  await t.step("only the platform can read the feed", async () => {
    for (const role of ["anon", "authenticated", "service_role"]) {
      await assert.rejects(
        asRole(sql, role, (tx) => tx`select * from realtime.stack_changes`),
        { code: "42501" },
      );
    }
  });

  await t.step("DDL notifies the REST server to reload, data does not", async () => {
    const reloads = await listen(admin, "pgrst");
    await sql`create table public.fresh (id int)`;
    await sql`insert into public.fresh values (1)`;
    await sql`drop table public.fresh`;
    await waitFor(() => reloads.length >= 2);

    assert.deepEqual(reloads, ["reload schema", "reload schema"]);
  });
});
