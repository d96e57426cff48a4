import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { jsonObject } from "../../../shared/platform/values/json_schema.ts";
import { refused, sendRequest } from "../../e2e/create_task_endpoint.ts";
import { addTool } from "../../e2e/operator.ts";
import { startHttpServer } from "../tools/http_fixture.ts";
import { startExternalServer } from "./external_server.ts";
import { grantScopes } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";

const ENDPOINT = "/functions/v1/mcp-execute";

const answerSchema = z.object({
  structuredContent: z.unknown(),
  isError: z.boolean().optional(),
  _meta: z.looseObject({ execution_id: z.guid() }),
});
const draftToolsSchema = z.object({
  tools: z.array(z.looseObject({ name: z.string(), inputSchema: jsonObject })),
  dropped: z.array(z.unknown()),
});

Deno.test("a draft of a tool is tried without being saved", async (t) => {
  const { promise: never, resolve: giveUp } = Promise.withResolvers<Response>();
  const api = startHttpServer(({ url, headers }) =>
    url.pathname === "/slow"
      ? never
      : Response.json({ q: url.searchParams.get("q"), key: headers.get("x-key") })
  );
  await using external = await startExternalServer();
  await using platform = await sharedPlatform();
  const { sql, project, stack } = platform;
  const author = await platform.addUser("author");
  await grantScopes(sql, author.id, ["swarm:configure"]);
  const user = await platform.addUser("user");
  await grantScopes(sql, user.id, ["mcp:try-lookup"]);
  const post = (body: unknown, headers: Readonly<Record<string, string>> = author.headers) =>
    sendRequest(project, { endpoint: ENDPOINT, body, headers });
  const draftOf = (config: Record<string, unknown>) => ({
    kind: "tool",
    definition: {
      type: "http_api",
      description: "Looks something up",
      config: {
        method: "GET",
        url: `${api.url}/search`,
        parameters: {
          type: "object",
          properties: { q: { type: "string" } },
          required: ["q"],
        },
        ...config,
      },
    },
  });
  const lookUp = (config: Record<string, unknown> = {}, q: unknown = "tea") => ({
    server: "try-lookup",
    tool_name: "try-lookup",
    parameters: { q },
    draft: draftOf(config),
  });
  /** Everything that a saved tool has. */
  const remains = async (slug: string) => {
    const [row] = await sql`
      select jsonb_build_array(
        (select jsonb_agg(to_jsonb(tool)) from public.tools as tool where slug = ${slug}),
        (select jsonb_agg(to_jsonb(connection)) from public.agent_mcp_connections as connection
          where tool_id in (select id from public.tools where slug = ${slug})),
        (select jsonb_agg(to_jsonb(cached)) from public.mcp_tools_cache as cached
          where connection_id in (select connection.id from public.agent_mcp_connections as connection
            join public.tools as tool on tool.id = connection.tool_id where tool.slug = ${slug}))
      ) as rows`;
    return row?.rows;
  };

  await t.step("its result comes back, and only the ledger and the audit keep it", async () => {
    const answer = await post(lookUp());

    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const { structuredContent, _meta } = answerSchema.parse(answer.body);
    assert.deepEqual(structuredContent, { q: "tea", key: null });
    assert.deepEqual(await remains("try-lookup"), [null, null, null]);
    const [row] = await sql`
      select user_id::text, mcp_name, tool_name, status, is_try, tool_id, connection_id, request_data
      from public.mcp_executions where id = ${_meta.execution_id}::uuid`;
    assert.deepEqual({ ...row }, {
      user_id: author.id,
      mcp_name: "try-lookup",
      tool_name: "try-lookup",
      status: "success",
      is_try: true,
      tool_id: null,
      connection_id: null,
      request_data: { q: "tea" },
    });
    const [act] = await sql`
      select act, details from private.operator_acts
      where operator_id = ${author.id}::uuid`;
    assert.deepEqual({ ...act }, {
      act: "tool.tried",
      details: { kind: "tool", slug: "try-lookup", tool: "try-lookup" },
    });
  });

  await t.step("arguments, time and address are checked as those of any call", async () => {
    const unfit = await post(lookUp({}, 7));
    assert.match(JSON.stringify(unfit.body), /TOOL_ARGUMENTS_INVALID/);
    const slow = await post(lookUp({ url: `${api.url}/slow`, timeout_ms: 100 }));
    assert.match(JSON.stringify(slow.body), /TOOL_TIMEOUT/);
    const inside = await post(lookUp({ url: "http://169.254.169.254/latest" }));
    assert.match(JSON.stringify(inside.body), /TOOL_ADDRESS_FORBIDDEN/);
    const invalid = refused(await post(lookUp({ url: "ftp://example.test" })));
    assert.equal(invalid.code, "TOOL_CONFIG_INVALID");
  });

  await t.step("only those who may save a tool try one", async () => {
    const sent = api.seen.length;
    const byUser = await post(lookUp(), user.headers);
    assert.deepEqual([byUser.status, refused(byUser).code], [403, "INSUFFICIENT_SCOPE"]);
    const byAgent = await post(lookUp(), { ...author.headers, "x-supaswarm-actor": "agent" });
    assert.equal(byAgent.status, 403);
    assert.ok(["AGENT_NOT_ALLOWED", "FORBIDDEN"].includes(refused(byAgent).code));
    assert.equal(api.seen.length, sent, "nothing was sent");
    const byService = await post(lookUp(), { apikey: stack.secretKey });
    assert.equal(byService.status, 200, JSON.stringify(byService.body));
    const forUser = await post({ ...lookUp(), on_behalf_of: user.id }, { apikey: stack.secretKey });
    assert.deepEqual([forUser.status, refused(forUser).code], [400, "BODY_INVALID"]);
  });

  await t.step("it sends keys that its author has stored, and no other secret", async () => {
    await sql`select vault.create_secret('canary-of-a-user', 'supaswarm_user_canary')`;
    await sql`select vault.create_secret('canary-of-the-project', 'try_project_key')`;
    const note = (operatorId: string | null) =>
      sql`
        insert into private.operator_acts (operator_id, act, details)
        values (${operatorId}, 'secret.set', '{"name": "try_project_key"}')`;
    await note(null);
    const withCredential = (secret: string) => {
      const body = lookUp({ auth: { in: "header", name: "x-key" } });
      const { draft } = body;
      const definition = { ...draft.definition, credential: { secret, type: "api_key" } };
      return post({ ...body, draft: { ...draft, definition } });
    };
    const sent = api.seen.length;

    const foreign = await withCredential("supaswarm_user_canary");
    assert.equal(refused(foreign).code, "SECRET_INVALID");
    const missing = await withCredential("try_missing_key");
    assert.equal(refused(missing).code, "SECRET_NOT_FOUND");
    const named = { "x-key": { secret: "supaswarm_user_canary" } };
    const config = { mcp_url: external.url, headers: named };
    const inHeader = await post({
      server: "try-notes",
      draft: { kind: "server", definition: { config } },
    });
    assert.equal(refused(inHeader).code, "SECRET_INVALID");
    const ofOthers = await withCredential("try_project_key");
    assert.equal(refused(ofOthers).code, "SECRET_INVALID");
    assert.equal(api.seen.length, sent, "nothing was sent");
    await note(author.id);
    const own = await withCredential("try_project_key");
    assert.equal(api.seen.at(-1)?.headers.get("x-key"), "canary-of-the-project");
    assert.ok(!JSON.stringify(own.body).includes("canary-of-the-project"), "it is redacted");
    const [stored] = await sql`
      select count(*)::int as count from public.mcp_executions as execution
      where to_jsonb(execution)::text like '%canary-of-the-project%'`;
    assert.equal(stored?.count, 0);
  });

  await t.step("the saved tool of the same name stays as it is", async () => {
    const { draft: { definition }, ...call } = lookUp();
    await addTool(sql, { slug: "try-lookup", type: "http_api", config: definition.config });
    assert.equal((await post(call, user.headers)).status, 200);
    const before = await remains("try-lookup");

    const answer = await post(lookUp({ query: { q: "green {q}" } }));

    const { structuredContent } = answerSchema.parse(answer.body);
    assert.deepEqual(structuredContent, { q: "green tea", key: null });
    assert.deepEqual(await remains("try-lookup"), before);
  });

  await t.step("a database function runs with the author's own rights", async () => {
    await sql.unsafe(`
      create function public.try_who(p_word text) returns text language sql stable
        as $$ select p_word || ' ' || current_user || ' ' || auth.uid() $$;
      grant execute on function public.try_who to authenticated`);
    const draft = {
      kind: "tool",
      definition: { type: "database_function", config: { function: "public.try_who" } },
    };
    const run = (name: string) =>
      post({ server: "try-who", tool_name: name, parameters: { p_word: "I am" }, draft });
    const missing = refused(await run("try-who"));
    assert.deepEqual([missing.code, missing.hint], ["TOOL_NOT_FOUND", "It has: try_who."]);
    const answer = await run("try_who");
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const { structuredContent } = answerSchema.parse(answer.body);
    assert.match(JSON.stringify(structuredContent), new RegExp(`I am authenticated ${author.id}`));
  });

  await t.step("the draft of an MCP server lists its tools, and one of them runs", async () => {
    const draft = { kind: "server", definition: { config: { mcp_url: external.url } } };
    const listed = await post({ server: "try-notes", draft });
    assert.equal(listed.status, 200, JSON.stringify(listed.body));
    const { tools, dropped } = draftToolsSchema.parse(listed.body);
    assert.deepEqual(dropped, []);
    const pictures = tools.find(({ name }) => name === "picture");
    assert.deepEqual(pictures?.inputSchema.required, ["of"]);

    const answer = await post({
      server: "try-notes",
      tool_name: "picture",
      parameters: { of: "cat" },
      draft,
    });
    assert.deepEqual(answerSchema.parse(answer.body).structuredContent, { of: "cat" });
    const unknown = await post({ server: "try-notes", tool_name: "pictures", draft });
    assert.equal(refused(unknown).code, "TOOL_NOT_FOUND");
    assert.deepEqual(await remains("try-notes"), [null, null, null]);
  });

  giveUp(new Response());
  await api.stop();
});
