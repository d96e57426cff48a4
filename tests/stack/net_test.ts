import assert from "node:assert/strict";
import { POLL_MS, startNet } from "../../stack/scheduler/net.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { testsSharing } from "../shared_fixture.ts";
import { type DatabaseFixture, openDatabaseFixture } from "./database_fixture.ts";
import { freePorts } from "./free_ports.ts";

/** The requests that the target server received. */
interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  readonly at: number;
}

const databaseTest = testsSharing(openDatabaseFixture);

/** Registers a test with a running executor, and a server that answers each request in JSON. */
function netTest(
  claim: string,
  test: (net: { fixture: DatabaseFixture; target: string; received: Received[] }) => Promise<void>,
): void {
  databaseTest(claim, (fixture) => withNet(fixture, test));
}

async function withNet(
  fixture: DatabaseFixture,
  test: Parameters<typeof netTest>[1],
): Promise<void> {
  const received: Received[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      received.push({
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        body,
        at: performance.now(),
      });
      if (pathname === "/hang") await new Promise((resolve) => setTimeout(resolve, 1_000));
      return Response.json({ echo: body }, { status: 201, headers: { "x-answer": "yes" } });
    },
  );
  await fixture.sql`create extension if not exists pg_net`;
  const net = await startNet(fixture.database, () => {});
  try {
    await test({ fixture, target: `http://127.0.0.1:${server.addr.port}`, received });
  } finally {
    await net.stop();
    await server.shutdown();
  }
}

async function answer(sql: Sql, id: string | undefined) {
  const [row] = await waitFor(async () => {
    const rows = await sql`
      select status_code, content_type, headers->>'x-answer' as x_answer, content, timed_out,
        error_msg
      from net._http_response where id = ${id ?? ""}
    `;
    return rows.length > 0 ? rows : null;
  }, { what: `the answer to request ${id}` });
  return row;
}

netTest(
  "a queued request is sent when its transaction commits, and its answer is stored",
  async ({ fixture: { sql }, target, received }) => {
    const id = await sql.begin(async (tx) => {
      const [row] = await tx<{ id: string }[]>`
        select net.http_post(${`${target}/x`}, '{"a": "ä"}', '{"q": "1 2"}',
          '{"Content-Type": "application/json", "apikey": "k"}') as id
      `;
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(received.length, 0);
      return row?.id;
    });

    assert.deepEqual(await answer(sql, id), {
      status_code: 201,
      content_type: "application/json",
      x_answer: "yes",
      content: '{"echo":"{\\"a\\": \\"ä\\"}"}',
      timed_out: false,
      error_msg: null,
    });
    assert.deepEqual(
      received.map(({ method, path, body }) => ({ method, path, body })),
      [{ method: "POST", path: "/x?q=1%202", body: '{"a": "ä"}' }],
    );
    assert.equal(received[0]?.headers.get("apikey"), "k");
    assert.deepEqual([...await sql`select id from net.http_request_queue`], []);
  },
);

netTest(
  "a request of a transaction that is rolled back is never sent",
  async ({ fixture: { sql }, target, received }) => {
    await assert.rejects(sql.begin(async (tx) => {
      await tx`select net.http_get(${`${target}/rolled-back`})`;
      throw new Error("undo");
    }));
    const [row] = await sql<{ id: string }[]>`select net.http_get(${`${target}/kept`}) as id`;

    await answer(sql, row?.id);

    assert.deepEqual(received.map(({ path }) => path), ["/kept"]);
  },
);

netTest(
  "a request that times out or cannot connect is answered with the reason",
  async ({ fixture: { sql }, target }) => {
    const [slow] = await sql<{ id: string }[]>`
      select net.http_get(${`${target}/hang`}, timeout_milliseconds => 100) as id
    `;
    const [lost] = await sql<{ id: string }[]>`
      select net.http_get(${`http://127.0.0.1:${freePorts()}/`}) as id
    `;

    const late = await answer(sql, slow?.id);
    const refused = await answer(sql, lost?.id);

    assert.deepEqual([late?.status_code, late?.timed_out, late?.error_msg], [
      null,
      true,
      "Timeout of 100 ms reached",
    ]);
    assert.deepEqual([refused?.status_code, refused?.timed_out], [null, false]);
    assert.match(refused?.error_msg, /refused/i);
  },
);

netTest(
  "500 queued requests are all sent once, even with a restart of the database",
  async ({ fixture, target, received }) => {
    const { sql } = fixture;
    await sql`select net.http_get(${target} || '/' || i) from generate_series(1, 500) as i`;
    await waitFor(() => received.length === 500, { what: "500 requests" });
    Deno.kill(await fixture.childPid(), "SIGKILL");
    await waitFor(() => fixture.events.includes("database.restarted"), { what: "the restart" });
    await waitFor(() =>
      sql`select net.http_get(${`${target}/after`})`.then(() => true, () => false)
    );

    await waitFor(() => received.some(({ path }) => path === "/after"));

    assert.equal(new Set(received.map(({ path }) => path)).size, 501);
    assert.equal(received.length, 501);
  },
);

netTest(
  "a committed request is sent at once, not when the queue is read the next time",
  async ({ fixture: { sql }, target, received }) => {
    const delays: number[] = [];
    for (let i = 0; i < 30; i++) {
      await sql`select net.http_get(${`${target}/${i}`})`;
      const committedAt = performance.now();
      await waitFor(() => received.length > i, { intervalMs: 1 });
      delays.push((received[i]?.at ?? Infinity) - committedAt);
    }

    const median = delays.toSorted((a, b) => a - b)[15] ?? Infinity;
    assert.ok(median < POLL_MS / 2, `the median was ${median} ms`);
  },
);
