import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { RealtimeChannel, SupabaseClient } from "../deps.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { startRealtimeFixture } from "./realtime_fixture.ts";

const SCHEMA = `
  create table public.notes (
    id bigint primary key,
    owner uuid not null,
    title text,
    secret text,
    tags text[] not null default '{}',
    done boolean not null default false
  );
  alter table public.notes enable row level security;
  create policy "owners read" on public.notes for select to authenticated
    using (owner = (select auth.uid()));
  grant select (id, owner, title, tags, done) on public.notes to authenticated;

  create table public.moods (id int primary key, "odd ""name" int, note text);
  alter table public.moods replica identity full;
  grant select on public.moods to anon, authenticated;

  create table public.hidden (id int primary key);
  alter publication supabase_realtime add table public.notes, public.moods;`;

const OWNER = "00000000-0000-4000-8000-000000000001";
const STRANGER = "00000000-0000-4000-8000-000000000002";

interface Change {
  readonly eventType: string;
  readonly new: Record<string, unknown>;
  readonly old: Record<string, unknown>;
  readonly errors: string[] | null;
  readonly commit_timestamp: string;
}

interface Binding {
  readonly event: "*" | "INSERT" | "UPDATE" | "DELETE";
  readonly schema: string;
  readonly table?: string;
  readonly filter?: string;
}

interface Followed {
  readonly channel: RealtimeChannel;
  /** What each binding received, in the order of the bindings. */
  readonly changes: readonly Change[][];
  /** The server's report about the subscription. */
  readonly answer: { readonly status: string; readonly message: string };
}

/** Follows changes and waits until the server confirms or refuses the bindings. */
async function follow(client: SupabaseClient, ...bindings: Binding[]): Promise<Followed> {
  const changes: Change[][] = bindings.map(() => []);
  const answers: { status: string; message: string }[] = [];
  const channel = client.channel(`changes-${crypto.randomUUID()}`);
  bindings.forEach((binding, position) => {
    // The overloads of `on` name each event; one call for any of them needs the general form.
    channel.on("postgres_changes" as "system", binding as never, (change: unknown) => {
      changes[position]?.push(change as Change);
    });
  });
  channel.on("system", {}, (answer) => answers.push(answer));
  channel.subscribe();
  const answer = await waitFor(() => answers[0], { what: "the server's answer" });
  return { channel, changes, answer };
}

Deno.test("realtime sends postgres_changes", async (t) => {
  await using stack = await startRealtimeFixture(SCHEMA);
  const { sql } = stack;
  const [ownerToken, strangerToken] = [stack.token(OWNER), stack.token(STRANGER)];
  const owner = await stack.client({ accessToken: () => ownerToken });
  const stranger = await stack.client({ accessToken: () => strangerToken });
  const anonymous = await stack.client();

  await t.step("followers get insert, update and delete of rows that they may read", async () => {
    const mine = await follow(owner, { event: "*", schema: "public", table: "notes" });
    const theirs = await follow(stranger, { event: "*", schema: "public", table: "notes" });
    deepEqual(mine.answer.message, "Subscribed to PostgreSQL");

    await sql`
      insert into public.notes (id, owner, title, secret, tags)
      values
        (1, ${OWNER}, 'first', 'hush', '{a,b}'),
        (2, ${STRANGER}, null, null, '{}')`;
    // Policies check the current row, so each change is awaited while the row exists.
    await waitFor(() => mine.changes[0]?.length === 1);
    await sql`update public.notes set done = true where id = 1`;
    await waitFor(() => mine.changes[0]?.length === 2);
    await sql`delete from public.notes where id = 1`;

    await waitFor(() => mine.changes[0]?.length === 3 && theirs.changes[0]?.length === 2);
    const [inserted, updated, deleted] = mine.changes[0] ?? [];
    deepEqual(mine.changes[0]?.map(({ eventType }) => eventType), ["INSERT", "UPDATE", "DELETE"]);
    const row = { id: 1, owner: OWNER, title: "first", tags: ["a", "b"], done: false };
    deepEqual(inserted?.new, row, "the hidden column is missing");
    deepEqual([updated?.new, updated?.old], [{ ...row, done: true }, { id: 1 }]);
    deepEqual([deleted?.new, deleted?.old], [{}, { id: 1 }]);
    match(inserted?.commit_timestamp ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    deepEqual(
      theirs.changes[0]?.map((change) => [change.eventType, change.new.id ?? change.old.id]),
      [["INSERT", 2], ["DELETE", 1]],
      "a stranger sees its own row, and only the key of a deleted one",
    );
    await owner.removeAllChannels();
    await stranger.removeAllChannels();
  });

  await t.step("each binding gets only its event and filter", async () => {
    const table = { schema: "public", table: "moods" };
    const { channel, changes } = await follow(
      anonymous,
      { ...table, event: "INSERT", filter: "id=gt.9" },
      { ...table, event: "UPDATE", filter: "note=in.(calm,glad)" },
      { ...table, event: "*", filter: 'note=not.eq."a,b",id=lt.9' },
      { ...table, event: "DELETE", filter: "note=like.ca%" },
      { ...table, event: "INSERT", filter: 'odd "name=is.null' },
    );

    await sql`insert into public.moods values (2, 7, 'a,b'), (10, null, 'new')`;
    await sql`update public.moods set note = 'calm' where id = 2`;
    await sql`update public.moods set note = 'sad' where id = 10`;
    await sql`delete from public.moods where id = 2`;

    await waitFor(() => changes[3]?.length === 1);
    deepEqual(
      changes.map((list) => list.map((c) => [c.eventType, c.new.id ?? c.old.id])),
      [
        [["INSERT", 10]],
        [["UPDATE", 2]],
        [["UPDATE", 2], ["DELETE", 2]],
        [["DELETE", 2]],
        [["INSERT", 10]],
      ],
    );
    deepEqual(changes[3]?.[0]?.old, { id: 2, 'odd "name': 7, note: "calm" });
    await anonymous.removeChannel(channel);
  });

  await t.step("300 changes of one transaction arrive in order", async () => {
    const { channel, changes } = await follow(anonymous, { event: "*", schema: "*" });

    await sql`insert into public.moods (id) select generate_series(1000, 1299)`;

    await waitFor(() => changes[0]?.length === 300);
    deepEqual(changes[0]?.map((c) => c.new.id), Array.from({ length: 300 }, (_, n) => 1000 + n));
    await anonymous.removeChannel(channel);
  });

  await t.step("a filter cannot inject SQL", async () => {
    const { channel, answer } = await follow(anonymous, {
      event: "*",
      schema: "public",
      table: "moods",
      filter: `id) or true; drop table public.moods; --=eq.1`,
    });

    deepEqual(answer.status, "error");
    const [{ count } = {}] = await sql`select count(*)::int from public.moods`;
    ok(count > 0);
    await anonymous.removeChannel(channel);
  });

  await t.step("an impossible binding is refused with the reason", async () => {
    const asked = [
      [{ table: "hidden" }, /Please check Realtime is enabled/],
      [{ table: "notes", filter: "secret=eq.x" }, /invalid column for filter secret/],
      [{ table: "notes", filter: "id=eq.x" }, /invalid input syntax for type bigint/],
      [{ table: "notes", filter: "id=near.1" }, /Error parsing `filter` params/],
    ] as const;
    for (const [binding, reason] of asked) {
      const { channel, answer } = await follow(owner, { event: "*", schema: "public", ...binding });
      equal(answer.status, "error");
      match(answer.message, reason);
      await owner.removeChannel(channel);
    }
  });

  await t.step("a table without followers records nothing", async () => {
    await waitFor(async () => {
      const [row] = await sql`select count(*)::int from realtime.subscription`;
      return row?.count === 0;
    });

    await sql`insert into public.moods (id) values (50)`;

    const [row] = await sql`select count(*)::int from realtime.stack_changes`;
    equal(row?.count, 0);
  });
});
