import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { REDACTED } from "../../../shared/platform/secrets/redact.ts";
import { created, refused, sendRequest } from "../../e2e/create_task_endpoint.ts";
import { addAgent, addTool } from "../../e2e/operator.ts";
import { completeWithResults, scriptTurns } from "../../e2e/script.ts";
import { untilTask } from "../../e2e/task_view.ts";
import { startAuthorizationServer } from "./authorization_server.ts";
import { grantScopes, type McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { startProtectedServer } from "./protected_server.ts";
import { ScriptedBrowser } from "./scripted_browser.ts";

const ENDPOINT = "/functions/v1/mcp-oauth";
const APP = "http://localhost:7777/settings";
const begunSchema = z.object({ authorization_url: z.url(), expires_at: z.iso.datetime() });
const textSchema = z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) });

Deno.test("users connect their own accounts with OAuth", async (t) => {
  await using authority = await startAuthorizationServer();
  await using diary = await startProtectedServer(authority);
  await using platform = await sharedPlatform();
  const { sql, project, stack, logLines } = platform;
  await addTool(sql, { slug: "diary", type: "mcp_server", config: { mcp_url: diary.url } });
  const ada = await platform.addUser("ada");
  const bob = await platform.addUser("bob");
  for (const { id } of [ada, bob]) await grantScopes(sql, id, ["mcp:diary"]);
  const seen: string[] = [];

  const send = (who: McpUser, body: unknown, path = "", method = "POST") =>
    sendRequest(project, { endpoint: `${ENDPOINT}${path}`, body, method, headers: who.headers });
  const begin = async (who: McpUser, more: Record<string, string> = {}) => {
    const { status, body } = await send(who, { server: "diary", ...more });
    assert.equal(status, 200, JSON.stringify(body));
    return begunSchema.parse(body).authorization_url;
  };
  /** Runs the whole flow in the browser, up to the app's response. */
  const authorize = async (who: McpUser, account: string) => {
    const address = await begin(who, { return_to: APP });
    const back = await new ScriptedBrowser().authorize(address, account, stack.apiUrl);
    const answer = await fetch(back, { redirect: "manual" });
    const location = new URL(answer.headers.get("location") ?? "");
    assert.equal(`${location.origin}${location.pathname}`, APP);
    const confirmation = new URLSearchParams(location.hash.slice(1)).get("confirmation") ?? "";
    return { back, confirmation, address };
  };
  const connect = async (who: McpUser, account: string) => {
    const { confirmation } = await authorize(who, account);
    const { status, body } = await send(who, { confirmation }, "/confirm");
    assert.deepEqual([status, body], [200, { server: "diary", is_connected: true }]);
  };
  const call = async (who: McpUser, tool = "whoami") => {
    const answer = await sendRequest(project, {
      endpoint: "/functions/v1/mcp-execute",
      body: { server: "diary", tool_name: tool, parameters: {} },
      headers: who.headers,
    });
    const read = textSchema.safeParse(answer.body);
    seen.push(...diary.tokens);
    return read.success && answer.status === 200
      ? read.data.content[0]?.text
      : refused(answer).code;
  };
  const refreshes = () =>
    authority.tokenRequests.filter((body) => body.get("grant_type") === "refresh_token");
  const expire = () =>
    sql`update private.oauth_connections set stale_at = now() - interval '1 second'`;
  const vault = async (like: string) => {
    const rows = await sql<{ name: string; secret: string }[]>`
      select name, decrypted_secret as secret from vault.decrypted_secrets where name like ${like}`;
    seen.push(...rows.map(({ secret }) => secret));
    return [...rows];
  };

  await t.step("a user without a connection gets instructions", async () => {
    const answer = await sendRequest(project, {
      endpoint: "/functions/v1/mcp-execute",
      body: { server: "diary", tool_name: "whoami", parameters: {} },
      headers: ada.headers,
    });

    assert.equal(answer.status, 403);
    const { code, hint } = refused(answer);
    assert.equal(code, "AUTHORIZATION_REQUIRED");
    assert.match(hint, /mcp-oauth/);
  });

  await t.step("a missing connection does not count as a failure of the tool", async () => {
    for (const _ of Array(4).keys()) assert.equal(await call(bob), "AUTHORIZATION_REQUIRED");
    const rows = await sql`
      select distinct failure.error_type from public.mcp_failures as failure
      join public.mcp_executions as execution on execution.id = failure.execution_id
      where failure.error_code = 'AUTHORIZATION_REQUIRED' and execution.user_id = ${bob.id}`;
    assert.deepEqual([...rows], [{ error_type: "auth_error" }]);
    const [{ failures } = {}] = await sql`
      select private.failures_in_a_row(${bob.id}, id, 'whoami') as failures
      from public.tools where slug = 'diary'`;
    assert.equal(failures, 0);
  });

  await t.step("the request contains PKCE, the resource and a state", async () => {
    const { searchParams } = new URL(await begin(ada));

    assert.equal(searchParams.get("code_challenge_method"), "S256");
    assert.equal(searchParams.get("resource"), diary.url);
    assert.match(searchParams.get("state") ?? "", /^[0-9a-f]{64}$/);
    const stored = await sql`
      select 1 from private.oauth_requests where state_hash = ${searchParams.get("state")}`;
    assert.equal(stored.length, 0);
  });

  await t.step("a connected user calls with their own account", async () => {
    await connect(ada, "ada@diary");

    assert.equal(await call(ada), "diary of ada@diary");
    assert.equal(await call(bob), "AUTHORIZATION_REQUIRED");
    assert.equal(await call(ada), "diary of ada@diary");
    const rows = await ada.user.client.from("user_tool_credentials")
      .select("type, needs_authorization");
    assert.deepEqual(rows.data, [{ type: "oauth", needs_authorization: false }]);
  });

  await t.step("two users act as two accounts, with one registered client", async () => {
    await connect(bob, "bob@diary");

    assert.deepEqual([await call(bob), await call(ada)], [
      "diary of bob@diary",
      "diary of ada@diary",
    ]);
    const clients = await sql`select 1 from private.oauth_clients`;
    assert.equal(clients.length, 1);
  });

  await t.step("a call for no user or for another user uses no connection", async () => {
    const body = { server: "diary", tool_name: "whoami", parameters: {} };
    const headers = { apikey: stack.secretKey };
    const endpoint = "/functions/v1/mcp-execute";
    const service = await sendRequest(project, { endpoint, body, headers });
    const forBob = await sendRequest(project, {
      endpoint,
      body: { ...body, on_behalf_of: bob.id },
      headers,
    });

    assert.equal(refused(service).code, "AUTHORIZATION_REQUIRED");
    assert.match(JSON.stringify(forBob.body), /diary of bob@diary/);
  });

  await t.step("an expiring token is refreshed, and the refresh token rotates", async () => {
    const [before] = await vault(`%${ada.id}%/refresh`);
    await expire();
    const count = refreshes().length;

    assert.equal(await call(ada), "diary of ada@diary");
    const [after] = await vault(`%${ada.id}%/refresh`);
    assert.equal(refreshes().length, count + 1);
    assert.equal(refreshes().at(-1)?.get("resource"), diary.url);
    assert.notEqual(before?.secret, after?.secret);
    assert.equal(await call(ada), "diary of ada@diary");
    assert.equal(refreshes().length, count + 1);
  });

  await t.step("concurrent calls use the refresh token once", async () => {
    await expire();
    const count = refreshes().length;
    const answers = await Promise.all(Array.from({ length: 5 }, () => call(ada)));

    assert.deepEqual(new Set(answers), new Set(["diary of ada@diary"]));
    assert.equal(refreshes().length, count + 1);
  });

  await t.step(
    "a token that the server refuses is refreshed once, and the call is repeated",
    async () => {
      await authority.revokeAccessToken(diary.tokens.at(-1) ?? "");
      const count = refreshes().length;
      const refusals = diary.refusals;

      assert.equal(await call(ada), "diary of ada@diary");
      assert.deepEqual([refreshes().length, diary.refusals], [count + 1, refusals + 1]);
    },
  );

  await t.step(
    "no answer contains the token, not even one that was refreshed during the call",
    async () => {
      const fresh = await call(ada, "leak");
      await authority.revokeAccessToken(diary.tokens.at(-1) ?? "");
      const renewed = await call(ada, "leak");

      assert.deepEqual([fresh, renewed], [
        `your token is ${REDACTED}`,
        `your token is ${REDACTED}`,
      ]);
    },
  );

  await t.step("no resource contains a token that was refreshed to read it", async () => {
    const params = { uri: "diary://leak" };
    const read = () => ada.send({ path: "/diary", method: "resources/read", params });
    const fresh = await read();
    await authority.revokeAccessToken(diary.tokens.at(-1) ?? "");
    const refusals = diary.refusals;
    const renewed = await read();

    assert.equal(diary.refusals, refusals + 1);
    for (const { last } of [fresh, renewed]) {
      const [content] = z.array(z.looseObject({ text: z.string() })).parse(last.result?.contents);
      assert.equal(content?.text, `your token is ${REDACTED}`);
    }
  });

  await t.step("an unavailable authorization server ends no connection", async () => {
    await expire();
    const metadata = sql`
      select authorization_server ->> 'token_endpoint' as endpoint from private.oauth_connections`;
    const [held] = await metadata;
    const point = (endpoint: string) =>
      sql`
        update private.oauth_connections
        set authorization_server = authorization_server || ${
        sql.json({ token_endpoint: endpoint })
      }`;
    await point("http://127.0.0.1:9/token");

    assert.equal(await call(ada), "TOOL_UNAVAILABLE");
    await point(String(held?.endpoint));
    assert.equal(await call(ada), "diary of ada@diary");
  });

  await t.step("in a task the agent uses the account of the task's owner", async () => {
    const [tool] = await sql<{ id: string }[]>`select id from public.tools where slug = 'diary'`;
    await addAgent(sql, { slug: "keeper", tools: [{ id: tool?.id ?? "", allowed: ["whoami"] }] });
    stack.models.addAgent(scriptTurns(
      "keeper",
      ({ toolNames }) => ({
        toolCalls: toolNames.filter((name) => name.includes("whoami"))
          .map((name) => ({ name, arguments: {} })),
      }),
      completeWithResults,
    ));
    for (const [who, account] of [[ada, "ada@diary"], [bob, "bob@diary"]] as const) {
      const body = { agent: "keeper", input: "Whose?" };
      const { task_id } = created(await sendRequest(project, { body, headers: who.headers }));
      const { output } = await untilTask(sql, task_id, "completed");
      assert.match(JSON.stringify(output), new RegExp(`diary of ${account}`));
    }
  });

  await t.step("a client that an operator registered is used unchanged", async () => {
    await sql`select vault.create_secret('the-client-secret', 'DIARY_CLIENT_SECRET')`;
    const oauth = {
      client_id: "by-hand",
      client_secret: { secret: "DIARY_CLIENT_SECRET" },
      scope: "notes:read",
    };
    await sql`
      update public.tools set config = config || ${sql.json({ oauth })} where slug = 'diary'`;
    const { searchParams } = new URL(await begin(ada));
    await sql`update public.tools set config = config - 'oauth' where slug = 'diary'`;

    assert.equal(searchParams.get("client_id"), "by-hand");
    const [request] = await sql`
      select client_secret_name from private.oauth_requests where client_id = 'by-hand'`;
    assert.equal(request?.client_secret_name, "DIARY_CLIENT_SECRET");
  });

  await t.step("a state works once, for its user, before it expires", async () => {
    const twice = await authorize(ada, "ada@diary");
    const stolen = await authorize(ada, "bob@diary");
    const late = await authorize(ada, "ada@diary");
    await send(ada, { confirmation: twice.confirmation }, "/confirm");
    const replay = await send(ada, { confirmation: twice.confirmation }, "/confirm");
    const foreign = await send(bob, { confirmation: stolen.confirmation }, "/confirm");
    const burnt = await send(ada, { confirmation: stolen.confirmation }, "/confirm");
    await sql`update private.oauth_requests set expires_at = now() - interval '1 second'`;
    const page = await fetch(late.back, { redirect: "manual" });
    await page.body?.cancel();
    const expired = await send(ada, { confirmation: late.confirmation }, "/confirm");

    for (const answer of [replay, foreign, burnt, expired]) {
      assert.deepEqual([answer.status, refused(answer).code], [400, "AUTHORIZATION_INVALID"]);
    }
    assert.equal(page.status, 400);
    assert.deepEqual([await call(bob), await call(ada)], [
      "diary of bob@diary",
      "diary of ada@diary",
    ]);
  });

  await t.step(
    "each issuer has its own callback, which accepts no other issuer's answer",
    async () => {
      await using otherAuthority = await startAuthorizationServer();
      await using other = await startProtectedServer(otherAuthority);
      await addTool(sql, {
        slug: "other-diary",
        type: "mcp_server",
        config: { mcp_url: other.url },
      });
      const callbackOf = (address: string) =>
        new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
      const [own, again, foreign] = [
        await begin(ada, { return_to: APP }),
        await begin(bob),
        await begin(ada, { server: "other-diary", return_to: APP }),
      ].map(callbackOf);
      const { back } = await authorize(ada, "ada@diary");

      assert.match(own?.pathname ?? "", /\/mcp-oauth\/callback\/[0-9a-f]{32}$/);
      assert.equal(own?.href, again?.href);
      assert.notEqual(own?.href, foreign?.href);
      assert.equal(`${back.origin}${back.pathname}`, own?.href);
      // The code of an honest server arrives at the callback of a malicious one.
      const mixedUp = new URL(back.search, foreign);
      const answer = await fetch(mixedUp, { redirect: "manual" });
      const text = await answer.text();
      assert.equal(answer.status, 400);
      assert.equal(answer.headers.get("location"), null);
      assert.ok(!text.includes(back.searchParams.get("code") ?? "?"));
      const shared = await fetch(
        `${stack.apiUrl}/functions/v1/mcp-oauth/callback${back.search}`,
        { redirect: "manual" },
      );
      await shared.body?.cancel();
      assert.equal(shared.status, 405);
    },
  );

  await t.step("the secret of an operator's client is sent to no other issuer", async () => {
    await using otherAuthority = await startAuthorizationServer();
    await using malicious = await startProtectedServer(otherAuthority);
    const oauth = { client_id: "by-hand", client_secret: { secret: "DIARY_CLIENT_SECRET" } };
    const configure = (config: Record<string, unknown>) =>
      sql`update public.tools set config = ${sql.json(config as never)} where slug = 'diary'`;
    await configure({ mcp_url: diary.url, oauth });
    await begin(ada);

    await configure({ mcp_url: malicious.url, oauth });
    const changed = await send(ada, { server: "diary" });
    await configure({ mcp_url: malicious.url, oauth: { ...oauth, issuer: authority.issuer } });
    const named = await send(ada, { server: "diary" });
    await configure({ mcp_url: malicious.url, oauth: { ...oauth, client_id: "another" } });
    const anew = await send(ada, { server: "diary" });
    await configure({ mcp_url: diary.url });

    assert.equal(refused(changed).code, "OAUTH_UNAVAILABLE");
    assert.equal(refused(named).code, "OAUTH_UNAVAILABLE");
    assert.equal(anew.status, 200, "a client that the operator registered with the new one");
  });

  await t.step("an answer of another issuer, or without an issuer, is refused", async () => {
    for (const iss of ["https://evil.example", undefined]) {
      const { confirmation } = await authorize(ada, "ada@diary");
      const answer = JSON.parse(atob(confirmation.replaceAll("-", "+").replaceAll("_", "/")));
      const forged = btoa(JSON.stringify({ ...answer, iss }));
      const count = authority.tokenRequests.length;
      const result = await send(ada, { confirmation: forged }, "/confirm");

      assert.equal(refused(result).code, "AUTHORIZATION_INVALID");
      assert.equal(authority.tokenRequests.length, count);
    }
  });

  await t.step("a code of another verifier is refused", async () => {
    const { confirmation } = await authorize(ada, "mallory@diary");
    await sql`
      select vault.update_secret(id, ${crypto.randomUUID().padEnd(43, "0")}) from vault.secrets
      where name like 'supaswarm/oauth/request/%'`;
    const answer = await send(ada, { confirmation }, "/confirm");

    assert.deepEqual([answer.status, refused(answer).code], [422, "AUTHORIZATION_REFUSED"]);
    assert.equal(await call(ada), "diary of ada@diary");
  });

  await t.step("the browser's page runs no scripts and is not cached", async () => {
    const address = await begin(ada);
    const back = await new ScriptedBrowser().authorize(address, "ada@diary", stack.apiUrl);
    const answer = await fetch(back);
    const text = await answer.text();

    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/);
    assert.match(answer.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    const confirmation = text.trim().split("\n").at(-1) ?? "";
    assert.equal((await send(ada, { confirmation }, "/confirm")).status, 200);
  });

  await t.step("the flow does not redirect to a foreign origin", async () => {
    const answer = await send(ada, { server: "diary", return_to: "https://evil.example/" });

    assert.deepEqual([answer.status, refused(answer).code], [400, "BODY_INVALID"]);
  });

  await t.step("only a signed-in user can start", async () => {
    const body = { server: "diary" };
    const anonymous = await sendRequest(project, { endpoint: ENDPOINT, body });
    const service = await sendRequest(project, {
      endpoint: ENDPOINT,
      body,
      headers: { apikey: stack.secretKey },
    });

    assert.deepEqual([anonymous.status, service.status], [401, 401]);
  });

  await t.step("the token is sent only to the authorized address", async () => {
    await using other = await startProtectedServer(authority);
    const move = (url: string) =>
      sql`
        update public.tools set config = ${sql.json({ mcp_url: url })} where slug = 'diary'`;
    await move(other.url);

    assert.equal(await call(ada), "AUTHORIZATION_REQUIRED");
    assert.equal(other.tokens.length + other.refusals, 0);
    await move(diary.url);
    assert.equal(await call(ada), "diary of ada@diary");
  });

  await t.step("a revoked authorization requests a new one, and nothing else is used", async () => {
    await sql`select vault.create_secret('the-shared-key', 'DIARY_KEY')`;
    await sql`update public.tools set credential_secret_name = 'DIARY_KEY' where slug = 'diary'`;
    await authority.revokeGrants("ada@diary");
    const tokens = diary.tokens.length;

    assert.equal(await call(ada), "AUTHORIZATION_REQUIRED");
    assert.equal(await call(ada), "AUTHORIZATION_REQUIRED");
    assert.equal(diary.tokens.length, tokens);
    assert.deepEqual(await vault(`supaswarm/user/${ada.id}/%`), []);
    const rows = await ada.user.client.from("user_tool_credentials").select("needs_authorization");
    assert.deepEqual(rows.data, [{ needs_authorization: true }]);
    await connect(ada, "ada@diary");
    assert.equal(await call(ada), "diary of ada@diary");
  });

  await t.step("disconnecting revokes the grant and leaves nothing in Vault", async () => {
    const [held] = await vault(`%${bob.id}%/refresh`);
    const answer = await send(bob, { server: "diary" }, "", "DELETE");
    const again = await send(bob, { server: "diary" }, "", "DELETE");

    assert.deepEqual(answer.body, { server: "diary", is_connected: false, is_revoked: true });
    assert.equal(authority.revocations.at(-1)?.get("token"), held?.secret);
    assert.equal(refused(again).code, "AUTHORIZATION_INVALID");
    assert.deepEqual(await vault(`supaswarm/user/${bob.id}/%`), []);
  });

  await t.step("a user's own key replaces the connection with its tokens", async () => {
    await ada.user.client.rpc("set_tool_credential", {
      p_tool_slug: "diary",
      p_secret: "my-own-key",
    });

    const names = (await vault(`supaswarm/user/${ada.id}/%`)).map(({ secret }) => secret);
    assert.deepEqual(names, ["my-own-key"]);
    assert.equal((await sql`select 1 from private.oauth_connections`).length, 0);
    await connect(ada, "ada@diary");
    assert.equal(await call(ada), "diary of ada@diary");
    await sql`delete from auth.users where id = ${ada.id}`;
    assert.deepEqual(await vault(`supaswarm/user/${ada.id}/%`), []);
  });

  await t.step("only Vault contains tokens", async () => {
    await vault("supaswarm/%");
    const secrets = [...new Set(seen)].filter((secret) => secret.length > 20);
    assert.ok(secrets.length > 10);
    const tables = await sql<{ schema: string; name: string }[]>`
      select schemaname as schema, tablename as name from pg_tables
      where schemaname in ('public', 'private', 'pgmq', 'realtime', 'net')`;
    const texts = new Map([["the log", logLines.join("\n")]]);
    for (const { schema, name } of tables) {
      const [row] = await sql<{ text: string | null }[]>`
        select string_agg(t::text, '\n') as text from ${sql(schema)}.${sql(name)} as t`;
      texts.set(`${schema}.${name}`, row?.text ?? "");
    }
    const all = [...texts.values()].join("\n");
    assert.ok(all.includes("mcp_oauth") || all.includes("oauth.connected"));
    const leaks = [...texts].flatMap(([place, text]) =>
      secrets.filter((secret) => text.includes(secret)).map((secret) => [place, secret])
    );
    assert.deepEqual(leaks, []);
  });
});
