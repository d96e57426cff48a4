import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openDatabaseFixture } from "./database_fixture.ts";

const databaseTest = testsSharing(openDatabaseFixture);

databaseTest(
  "the embedded database reports notifications only when they are committed",
  async ({ database, sql }) => {
    const received: string[] = [];
    const unsubscribe = await database.onNotification("test", (payload) => received.push(payload));
    await sql.unsafe(`
    create table row_log (i integer);
    create function announce() returns trigger language plpgsql as
      $$ begin perform pg_notify('test', 'row ' || new.i); return null; end $$;
    create trigger announce after insert on row_log for each row execute function announce();
  `);

    await sql`select pg_notify('test', 'plain')`;
    await waitFor(() => received.length > 0, { what: "the first notification" });
    await sql.begin(async (tx) => {
      await tx`select pg_notify('test', 'in transaction')`;
      assert.deepEqual(received, ["plain"]);
    });
    await assert.rejects(sql.begin(async (tx) => {
      await tx`select pg_notify('test', 'rolled back')`;
      throw new Error("undo");
    }));
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => sql`insert into row_log values (${i}::int)`),
    );
    await waitFor(() => received.length >= 202, { what: "202 notifications" });
    unsubscribe();
    await sql`select pg_notify('test', 'after unsubscribing')`;

    const rows = received.slice(2);
    assert.deepEqual(received.slice(0, 2), ["plain", "in transaction"]);
    assert.deepEqual(rows.toSorted(), Array.from({ length: 200 }, (_, i) => `row ${i}`).toSorted());
  },
);

databaseTest(
  "clients of the embedded database get the answers to their own queries",
  async ({ sql }) => {
    // Each kind parses another statement under the same empty name; the first three wait for its
    // description before they bind.
    const kinds: ((i: number) => Promise<void>)[] = [
      async (i) => {
        const [row] = await sql`select ${i}::int as a, ${`x${i}`}::text as b`;
        assert.deepEqual(row, { a: i, b: `x${i}` });
      },
      async (i) => {
        const [row] = await sql`select ${`y${i}`}::text as c`;
        assert.deepEqual(row, { c: `y${i}` });
      },
      async (i) => {
        const text = "z".repeat(100_000) + i;
        const [row] = await sql`select length(${text}::text) as d`;
        assert.deepEqual(row, { d: text.length });
      },
      async (i) => {
        await sql.begin(async (tx) => {
          const [first] = await tx`select ${i}::int as e, set_config('app.mine', ${`${i}`}, true)`;
          const [second] = await tx`select current_setting('app.mine') as f`;
          assert.deepEqual([first?.e, second?.f], [i, `${i}`]);
        });
      },
      async () => {
        const [row] = await sql`select 1 as g`;
        assert.deepEqual(row, { g: 1 });
      },
      async () => {
        await assert.rejects(sql`select 1 / ${0}::int`, { code: "22012" });
      },
    ];
    await Promise.all(Array.from({ length: 600 }, (_, i) => kinds[i % kinds.length]?.(i)));
  },
);

databaseTest("a client that disconnects ends its open transaction", async ({ sql, database }) => {
  await sql`create table kept (i integer)`;

  for (const sent of [inTransaction(), beforeSync()]) {
    const socket = await Deno.connect({ port: Number(new URL(database.url).port) });
    await socket.write(startup());
    await socket.write(sent);
    await readUntil(socket, "INSERT 0 1");
    socket.close();
  }

  const [row] = await sql`select count(*)::int as count from kept`;
  assert.deepEqual(row, { count: 0 });
});

const encoder = new TextEncoder();

function message(type: string, body: string): Uint8Array {
  const bytes = encoder.encode(`${type}\0\0\0\0${body}`);
  new DataView(bytes.buffer).setInt32(type.length, bytes.length - type.length);
  return bytes;
}

function startup(): Uint8Array {
  return message("", "\0\x03\0\0user\0postgres\0database\0postgres\0\0");
}

function inTransaction(): Uint8Array {
  return message("Q", "begin; insert into kept values (1)\0");
}

/** Parse, bind, execute, flush: executed, but not committed before the sync that never comes. */
function beforeSync(): Uint8Array {
  return Uint8Array.from([
    ...message("P", "\0insert into kept values (2)\0\0\0"),
    ...message("B", "\0\0\0\0\0\0\0\0"),
    ...message("E", "\0\0\0\0\0"),
    ...message("H", ""),
  ]);
}

async function readUntil(socket: Deno.Conn, text: string): Promise<void> {
  let seen = "";
  for (const buffer = new Uint8Array(4096); !seen.includes(text);) {
    const length = await socket.read(buffer);
    assert.notEqual(length, null, `the server ended the connection after: ${seen}`);
    seen += new TextDecoder().decode(buffer.subarray(0, length ?? 0));
  }
}
