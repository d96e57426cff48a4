import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { createConnectionStore } from "../../shared/gateway/tools/credentials/oauth/connection_store.ts";
import { renewToken } from "../../shared/gateway/tools/credentials/oauth/renew_token.ts";
import { assertNoDeadlock, openRaceTrack } from "./race_fixture.ts";

const SERVER = {
  issuer: "http://127.0.0.1:1",
  authorization_endpoint: "http://127.0.0.1:1/auth",
  token_endpoint: "http://127.0.0.1:1/token",
  response_types_supported: ["code"],
};

Deno.test("many connections that need a newer token use each refresh token once", async () => {
  await using track = await openRaceTrack();
  const { sql } = track;
  const store = createConnectionStore(sql);
  const token = await connect(sql);
  const spent: string[] = [];
  /** Rotates; a repeated refresh token would end the connection. */
  const guardedFetch: typeof fetch = (_address, init) => {
    const refreshToken = new URLSearchParams(String(init?.body)).get("refresh_token") ?? "";
    const isReused = spent.includes(refreshToken);
    spent.push(refreshToken);
    return Promise.resolve(
      isReused ? Response.json({ error: "invalid_grant" }, { status: 400 }) : Response.json({
        access_token: `access ${spent.length}`,
        refresh_token: `refresh ${spent.length}`,
        token_type: "Bearer",
        expires_in: 3_600,
      }),
    );
  };
  let { generation } = token;

  for (let round = 1; round <= 20; round++) {
    const held = { ...token, generation };
    const renewed = await Promise.all(
      Array.from({ length: 16 }, () => renewToken("diary", held, { store, guardedFetch })),
    );

    assert.deepEqual(
      new Set(renewed.map(({ accessToken }) => accessToken)),
      new Set([
        `access ${round}`,
      ]),
    );
    generation = renewed[0]?.generation ?? 0;
  }
  assert.deepEqual([spent.length, new Set(spent).size], [20, 20]);
  await assertNoDeadlock(track);
});

async function connect(sql: Sql) {
  const [row] = await sql<{ user_id: string; tool_id: string }[]>`
    with person as (
      insert into auth.users (id, email) values (gen_random_uuid(), 'a@example.com') returning id
    ), tool as (
      insert into public.tools (name, slug, type, config)
      values ('diary', 'diary', 'mcp_server', '{"mcp_url": "http://127.0.0.1:2"}') returning id
    )
    select person.id as user_id, tool.id as tool_id from person, tool`;
  const connection = {
    user_id: row?.user_id ?? "",
    tool_id: row?.tool_id ?? "",
    server_url: "http://127.0.0.1:2",
    authorization_server: SERVER,
    client_id: "us",
    redirect_url: "http://127.0.0.1:3",
  };
  const tokens = { access_token: "access 0", refresh_token: "refresh 0" };
  await sql`select private.record_oauth_connection(${sql.json(connection)}, ${sql.json(tokens)})`;
  const [own] = await sql<{ id: string; generation: number }[]>`
    select credential_id as id, generation from private.oauth_connections`;
  return { credentialId: own?.id ?? "", generation: own?.generation ?? 0 };
}
