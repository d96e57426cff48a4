import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { asJsonObject } from "../../../shared/platform/values/json.ts";
import { jsonObject } from "../../../shared/platform/values/json_schema.ts";
import { refused, sendRequest } from "../../e2e/create_task_endpoint.ts";
import { addAgent, addTool } from "../../e2e/operator.ts";
import { startExternalServer } from "./external_server.ts";
import { grantScopes } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";

const ENDPOINT = "/functions/v1/mcp-execute";

const answerSchema = z.object({
  content: z.array(jsonObject),
  structuredContent: jsonObject.optional(),
  isError: z.boolean().optional(),
  error_code: z.string().optional(),
  consecutive_failures: z.number().optional(),
  _meta: z.looseObject({ execution_id: z.guid(), feedback_token: z.guid() }),
});
const serversSchema = z.object({
  servers: z.array(z.looseObject({
    slug: z.string(),
    name: z.string(),
    status: z.string(),
    tools: z.array(z.looseObject({ name: z.string() })),
  })),
});
const serverSchema = z.looseObject({
  info: z.looseObject({ name: z.string(), version: z.string(), capabilities: jsonObject }),
  connection: z.looseObject({ id: z.guid(), status: z.string(), failure_count: z.number() }),
  tools: z.array(z.looseObject({
    name: z.string(),
    inputSchema: jsonObject,
    successful_parameters: z.array(jsonObject),
    is_shape: z.boolean(),
    success_count: z.number(),
  })),
});

Deno.test("mcp-execute follows its contract", async (t) => {
  await using external = await startExternalServer();
  await using platform = await sharedPlatform();
  const { sql, project, stack } = platform;
  await addTool(sql, { slug: "sketches", type: "mcp_server", config: { mcp_url: external.url } });
  await addTool(sql, {
    slug: "absent",
    type: "mcp_server",
    config: { mcp_url: "http://127.0.0.1:9/" },
  });
  await addAgent(sql, { slug: "echo" });
  const ada = await platform.addUser("ada");
  const bob = await platform.addUser("bob");
  await grantScopes(sql, ada.id, ["swarm:run", "mcp:sketches", "mcp:absent"]);
  await grantScopes(sql, bob.id, ["mcp:sketches"]);
  const service = { apikey: stack.secretKey };
  const post = (body: unknown, headers: Readonly<Record<string, string>> = ada.headers) =>
    sendRequest(project, { endpoint: ENDPOINT, body, headers });
  const get = (query = "", headers: Readonly<Record<string, string>> = ada.headers) =>
    sendRequest(project, { endpoint: `${ENDPOINT}${query}`, method: "GET", headers });
  const picture = { server: "sketches", tool_name: "picture", parameters: { of: "cat" } };

  await t.step("a call returns the tool's result and the call's ids", async () => {
    const answer = await post(picture);

    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const { content, structuredContent, isError, _meta } = answerSchema.parse(answer.body);
    assert.deepEqual(content[0], { type: "text", text: "a cat" });
    assert.deepEqual([structuredContent, isError], [{ of: "cat" }, undefined]);
    const [row] = await sql`
      select user_id::text, mcp_name, status from public.mcp_executions
      where id = ${_meta.execution_id}::uuid`;
    assert.deepEqual({ ...row }, { user_id: ada.id, mcp_name: "sketches", status: "success" });
  });

  await t.step("a connection represents its server, only for its owner", async () => {
    const listed = serverSchema.parse((await get("?server=sketches")).body);
    const { id } = listed.connection;
    const { server: _, ...call } = { ...picture, connection_id: id };
    const byOwner = await post(call);
    const byStranger = await post(call, bob.headers);
    const mixed = await post({ ...call, server: "swarm" });

    assert.equal(byOwner.status, 200, JSON.stringify(byOwner.body));
    assert.deepEqual([byStranger.status, refused(byStranger).code], [404, "TOOL_NOT_FOUND"]);
    assert.deepEqual([mixed.status, refused(mixed).code], [400, "BODY_INVALID"]);
  });

  await t.step("a refusal or error that the tool reports is a result", async () => {
    const unfit = answerSchema.parse((await post({ ...picture, parameters: { of: 7 } })).body);
    const failed = answerSchema.parse(
      (await post({ ...picture, tool_name: "fail", parameters: {} })).body,
    );

    assert.deepEqual([unfit.isError, unfit.error_code], [true, "TOOL_ARGUMENTS_INVALID"]);
    assert.equal(asJsonObject(unfit.structuredContent?.error).code, "TOOL_ARGUMENTS_INVALID");
    assert.equal(failed.isError, true);
    assert.equal(failed.consecutive_failures, 1);
    assert.match(JSON.stringify(failed.content), /No ink left/);
  });

  await t.step("a refusal by the gateway is an error with its status", async () => {
    const other = { tool_name: "picture", parameters: {} };
    const cases: readonly (readonly [unknown, Record<string, string>, number, string, RegExp])[] = [
      ["{", ada.headers, 400, "BODY_INVALID", /JSON/],
      [
        '{"server": "swarm", "parameters": {"id": 9007199254740993}}',
        ada.headers,
        400,
        "BODY_INVALID",
        /round/,
      ],
      [{ tool_name: "x" }, ada.headers, 400, "BODY_INVALID", /server/],
      [{ ...picture, extra: 1 }, ada.headers, 400, "BODY_INVALID", /extra/],
      [picture, {}, 401, "UNAUTHORIZED", /./],
      [
        { ...other, server: "swarm", tool_name: "list_agents" },
        bob.headers,
        403,
        "INSUFFICIENT_SCOPE",
        /swarm:run/,
      ],
      [{ ...other, server: "absent" }, bob.headers, 403, "INSUFFICIENT_SCOPE", /mcp:absent/],
      [{ ...other, server: "sketchs" }, ada.headers, 404, "TOOL_NOT_FOUND", /sketches/],
      [{ ...picture, tool_name: "pictur" }, ada.headers, 404, "TOOL_NOT_FOUND", /picture/],
      [{ ...other, server: "absent" }, ada.headers, 502, "TOOL_UNAVAILABLE", /absent/],
    ];
    for (const [body, headers, status, code, mention] of cases) {
      const answer = await post(body, headers);

      assert.deepEqual([answer.status, refused(answer).code], [status, code], JSON.stringify(body));
      assert.match(JSON.stringify(answer.body), mention);
    }
  });

  await t.step(
    "the third consecutive failure reports the count, with the error's own code and text",
    async () => {
      const failing = { ...picture, tool_name: "fail", parameters: {} };
      const absent = { server: "absent", tool_name: "anything", parameters: {} };
      for (const call of [failing, failing, failing, absent, absent]) await post(call);
      const reported = answerSchema.parse((await post(failing)).body);
      const unreachable = await post(absent);

      const reportedError = asJsonObject(reported.structuredContent?.error);
      assert.deepEqual([reported.error_code, reportedError.code], [
        "EXCEEDED_RETRIES",
        "EXCEEDED_RETRIES",
      ]);
      assert.ok((reported.consecutive_failures ?? 0) > 3);
      assert.equal(reportedError.message, "No ink left");
      assert.match(String(reportedError.hint), /do not call it again in the same way/);
      const { code, message, details } = refused(unreachable);
      assert.deepEqual([unreachable.status, code], [422, "EXCEEDED_RETRIES"]);
      assert.match(message, /'absent' is not available now.*mcp_url/);
      assert.doesNotMatch(message, /EXCEEDED_RETRIES/);
      const { error_code, consecutive_failures } = jsonObject.parse(details);
      assert.deepEqual([error_code, consecutive_failures], ["TOOL_UNAVAILABLE", 3]);
    },
  );

  await t.step("too many calls get 429 with the time of the next attempt", async () => {
    await sql`
      insert into public.mcp_policies (mcp_name, tool_name, calls_per_minute, burst_calls)
      values ('sketches', 'region', 1, 1)`;
    const call = { server: "sketches", tool_name: "region", parameters: { region: "eu" } };
    const first = await post(call);
    const second = await post(call);

    assert.equal(first.status, 200);
    assert.deepEqual([second.status, refused(second).code], [429, "TOOL_RATE_LIMITED"]);
    assert.ok(Number(second.headers.get("retry-after")) > 0);
  });

  await t.step("acting on behalf of another user requires a secret key", async () => {
    for (const name of ["agent_id", "on_behalf_of", "task_id"]) {
      const answer = await post({ ...picture, [name]: bob.id });

      assert.deepEqual([answer.status, refused(answer).code], [403, "FORBIDDEN"], name);
    }
    const answer = await post({ ...picture, on_behalf_of: bob.id }, service);

    const { _meta } = answerSchema.parse(answer.body);
    const [row] = await sql`
      select user_id::text from public.mcp_executions where id = ${_meta.execution_id}::uuid`;
    assert.equal(row?.user_id, bob.id);
  });

  await t.step("calls of one session belong together, and to their user", async () => {
    const session_id = crypto.randomUUID();
    await post({ ...picture, session_id });
    await post({ ...picture, session_id });

    const rows = await sql`
      select session.user_id::text, count(execution.id)::int as calls
      from public.sessions as session
      join public.mcp_executions as execution on execution.session_id = session.id
      where session.id = ${session_id}::uuid group by session.id`;
    assert.deepEqual({ ...rows[0] }, { user_id: ada.id, calls: 2 });
  });

  await t.step("the list has the servers that a caller may use, with their tools", async () => {
    const ofAda = serversSchema.parse((await get()).body).servers;
    const ofBob = serversSchema.parse((await get("", bob.headers)).body).servers;

    const slugs = ofAda.map(({ slug }) => slug);
    assert.ok(slugs.includes("swarm") && slugs.includes("sketches") && slugs.includes("absent"));
    const sketches = ofAda.find(({ slug }) => slug === "sketches");
    const listed = sketches?.tools.find(({ name }) => name === "picture");
    assert.equal(listed?.model_options, null, "it offers no choice of models");
    assert.ok(ofAda.find(({ slug }) => slug === "absent")?.listing_error);
    assert.ok(!ofBob.some(({ slug }) => slug === "swarm" || slug === "absent"));
  });

  await t.step("a server for tasks only is not shown at any endpoint", async () => {
    const { servers } = serversSchema.parse((await get("", service)).body);
    const alone = await get("?server=artifacts", service);
    const { last } = await platform.service({ method: "tools/list" });
    const direct = await platform.service({ path: "/artifacts", method: "tools/list" });

    assert.ok(!servers.some(({ slug }) => slug === "artifacts"));
    assert.deepEqual([alone.status, refused(alone).code], [404, "TOOL_NOT_FOUND"]);
    assert.match(refused(alone).message, /only available to agents inside a task/);
    assert.doesNotMatch(JSON.stringify(last.result), /artifacts__/);
    assert.equal(direct.status, 404);
  });

  await t.step(
    "a server's tools list arguments that worked: the caller's own values, and others' shapes",
    async () => {
      const own = serverSchema.parse((await get("?server=sketches")).body);
      const carol = await platform.addUser("carol");
      await grantScopes(sql, carol.id, ["mcp:sketches"]);
      const others = serverSchema.parse((await get("?server=sketches", carol.headers)).body);

      const [mine, theirs] = [own, others].map(({ tools }) =>
        tools.find(({ name }) => name === "picture")
      );
      assert.deepEqual([own.info.name, own.info.version], ["sketches (Enhanced)", "3.2.1"]);
      assert.deepEqual(own.info.capabilities, {
        tools: true,
        resources: true,
        prompts: true,
        logging: false,
      });
      assert.ok(mine?.last_updated && mine.last_successful_call);
      assert.equal(own.connection.status, "healthy");
      assert.deepEqual([mine?.is_shape, mine?.successful_parameters], [false, [{ of: "cat" }]]);
      assert.ok(mine?.inputSchema.properties);
      assert.equal(theirs?.is_shape, true);
      assert.ok(!JSON.stringify(theirs?.successful_parameters).includes("cat"));
    },
  );

  await t.step("refresh lists the server's tools immediately", async () => {
    const [before] = await sql`
      select max(tools_listed_at)::text as at from public.agent_mcp_connections
      where user_id = ${ada.id}::uuid`;
    const answer = await get("?server=sketches&refresh=true");
    const [after] = await sql`
      select max(tools_listed_at)::text as at from public.agent_mcp_connections
      where user_id = ${ada.id}::uuid`;

    assert.equal(answer.status, 200);
    assert.notEqual(after?.at, before?.at);
  });

  await t.step("an unknown parameter is refused, an unknown server not found", async () => {
    for (
      const query of [
        "?refresh=true",
        "?server=sketches&refresh=yes",
        "?sever=sketches",
        "?server=a&server=b",
      ]
    ) {
      const answer = await get(query);

      assert.deepEqual([answer.status, refused(answer).code], [400, "QUERY_INVALID"], query);
    }
    for (const query of ["?server=sketchs", "?server=%00"]) {
      const unknown = await get(query);
      assert.deepEqual([unknown.status, refused(unknown).code], [404, "TOOL_NOT_FOUND"], query);
    }
  });

  await t.step("only GET and POST are answered", async () => {
    const answer = await sendRequest(project, {
      endpoint: ENDPOINT,
      method: "DELETE",
      headers: ada.headers,
    });

    assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "GET, POST"]);
  });
});
