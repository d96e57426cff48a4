import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { asJsonObject, type JsonObject } from "../../../shared/platform/values/json.ts";
import { jsonObject } from "../../../shared/platform/values/json_schema.ts";
import { catalogServer } from "../../../shared/servers/catalog/server.ts";
import { sendRequest } from "../../e2e/create_task_endpoint.ts";
import { grantScopes, type McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { connectSdkClient } from "./sdk_client.ts";

const ENDPOINT = "/functions/v1/mcp-execute";

const answerSchema = z.looseObject({
  structuredContent: jsonObject.optional(),
  isError: z.boolean().optional(),
  error_code: z.string().optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});
const idSchema = z.object({ id: z.guid() });
const messagesSchema = z.object({
  messages: z.array(z.looseObject({ id: z.guid(), content: z.string() })),
});

Deno.test("the tool catalog serves its tools over MCP and mcp-execute", async (t) => {
  await using platform = await sharedPlatform();
  const { sql, project, stack, mcpUrl } = platform;
  const ada = await platform.addUser("ada");
  const eve = await platform.addUser("eve");
  const bare = await platform.addUser("bare");
  await grantScopes(sql, bare.id, []);

  const post = async (
    headers: Readonly<Record<string, string>>,
    tool_name: string,
    parameters: JsonObject,
  ) => {
    const body = { server: "catalog", tool_name, parameters };
    const answer = await sendRequest(project, { endpoint: ENDPOINT, body, headers });
    return { status: answer.status, ...answerSchema.parse(answer.body) };
  };
  const use = async (user: McpUser, tool: string, parameters: JsonObject) => {
    const answer = await post(user.headers, tool, parameters);
    assert.equal(answer.status, 200, JSON.stringify(answer));
    assert.equal(answer.isError, undefined, JSON.stringify(answer));
    return answer.structuredContent ?? {};
  };
  const codeOf = async (user: McpUser, tool: string, parameters: JsonObject) => {
    const { status, error_code, error } = await post(user.headers, tool, parameters);
    return [status, error?.code ?? error_code];
  };
  const createConversation = async (title: string) =>
    idSchema.parse(await use(ada, "create_conversation", { title })).id;

  await t.step("a user without scopes reads which scope is missing", async () => {
    for (const { definition: { name }, scopes } of catalogServer.tools) {
      const [needed] = scopes;
      if (needed === undefined) continue;
      const answer = await post(bare.headers, name, {});
      assert.equal(answer.status, 403, name);
      assert.equal(answer.error?.code, "INSUFFICIENT_SCOPE");
      assert.ok(answer.error?.message.includes(needed), answer.error?.message);
    }
  });

  await t.step("messages are added once, listed by page, and exported", async () => {
    const conversationId = await createConversation("Plans");
    const add = (content: string, clientMessageId?: string) =>
      use(ada, "add_message", {
        conversationId,
        role: "user",
        content,
        ...(clientMessageId === undefined ? {} : { clientMessageId }),
      });
    const first = await add("one", "key");
    const again = await add("one, repeated", "key");
    for (const content of ["two", "three", "four"]) await add(content);

    const newest = messagesSchema.parse(
      await use(ada, "list_messages", { conversationId, limit: 2 }),
    );
    await add("five");
    const older = messagesSchema.parse(
      await use(ada, "list_messages", { conversationId, before: newest.messages[1]?.id ?? "" }),
    );
    const exported = await use(ada, "export_conversation", { conversationId });

    assert.deepEqual(again, first);
    assert.deepEqual(newest.messages.map(({ content }) => content), ["four", "three"]);
    assert.deepEqual(older.messages.map(({ content }) => content), ["two", "one"]);
    assert.equal(exported.mime, "application/json");
    const { messages } = z.looseObject({ messages: z.array(jsonObject) }).parse(
      JSON.parse(String(exported.content)),
    );
    assert.deepEqual(messages.map(({ content }) => content), [
      ...["one", "two", "three", "four", "five"],
    ]);
  });

  await t.step("an export can be imported by the tools that created it", async () => {
    const conversationId = await createConversation("Source");
    const add = (role: string, content: string) =>
      use(ada, "add_message", { conversationId, role, content });
    await add("user", "Hello\n# not a heading");
    await add("assistant", "```\nunclosed");
    const readable = async (id: string) => {
      const { content } = await use(ada, "export_conversation", { conversationId: id });
      const { title, messages } = z.object({ title: z.string(), messages: z.array(jsonObject) })
        .parse(JSON.parse(String(content)));
      return { title, messages: messages.map(({ created_at: _, ...message }) => message) };
    };
    const source = await readable(conversationId);

    const copyId = await createConversation(source.title);
    for (const message of [...source.messages, ...source.messages]) {
      await use(ada, "add_message", { conversationId: copyId, ...message });
    }

    assert.deepEqual(await readable(copyId), source);
  });

  await t.step("a conversation is private, and is deleted with its messages", async () => {
    const conversationId = await createConversation("Mine");
    await use(ada, "add_message", { conversationId, role: "user", content: "secret plan" });
    for (
      const [tool, args] of [
        ["add_message", { role: "user", content: "x" }],
        ["list_messages", {}],
        ["export_conversation", { format: "markdown" }],
        ["delete_conversation", {}],
      ] as const
    ) {
      const refused = await codeOf(eve, tool, { conversationId, ...args });
      assert.deepEqual(refused, [200, "CONVERSATION_NOT_FOUND"], tool);
    }
    assert.deepEqual(await use(ada, "delete_conversation", { conversationId }), { ok: true });
    assert.deepEqual(await codeOf(ada, "list_messages", { conversationId }), [
      200,
      "CONVERSATION_NOT_FOUND",
    ]);
    const [left] = await sql`
      select count(*)::int as count from public.messages where conversation_id = ${conversationId}`;
    assert.equal(left?.count, 0);
  });

  await t.step("messages that are too long together are not read", async () => {
    const conversationId = await createConversation("Long");
    await sql`
      insert into public.messages (conversation_id, seq, role, content)
      select ${conversationId}, n, 'user', repeat('x', 900000) from generate_series(1, 12) as n`;
    const list = (limit: number) => codeOf(ada, "list_messages", { conversationId, limit });

    assert.deepEqual(await list(1), [200, undefined]);
    assert.deepEqual(await list(12), [200, "OUTPUT_TOO_LARGE"]);
    for (const format of ["json", "markdown"]) {
      const refused = await codeOf(ada, "export_conversation", { conversationId, format });
      assert.deepEqual(refused, [200, "OUTPUT_TOO_LARGE"]);
    }
  });

  await t.step("invalid limits and cursors are refused", async () => {
    const conversationId = await createConversation("Limits");
    const list = (args: JsonObject) => codeOf(ada, "list_messages", { conversationId, ...args });

    assert.deepEqual(await list({ limit: 200 }), [200, undefined]);
    assert.deepEqual(await list({ limit: 201 }), [200, "TOOL_ARGUMENTS_INVALID"]);
    assert.deepEqual(await list({ before: crypto.randomUUID() }), [200, "MESSAGE_NOT_FOUND"]);
  });

  await t.step("a ruleset is saved against the version that was read", async () => {
    const saved = await use(ada, "save_ruleset", {
      name: "House style",
      content: { rules: ["Be brief"], tone: "calm" },
    });
    const save = (user: McpUser, args: JsonObject) =>
      post(user.headers, "save_ruleset", { id: saved.id ?? "", content: { rules: [] }, ...args });
    const second = await save(ada, { ifMatchVersion: 1 });
    const late = await save(ada, { ifMatchVersion: 1 });

    assert.equal(saved.version, 1);
    assert.equal(second.structuredContent?.version, 2);
    assert.equal(late.status, 409);
    assert.equal(late.error?.code, "RULESET_VERSION_CONFLICT");
    assert.equal(asJsonObject(late.error?.details as JsonObject).current_version, 2);
    assert.deepEqual(await use(ada, "get_ruleset", { id: saved.id ?? "" }), {
      id: saved.id,
      name: "House style",
      version: 2,
      content: { rules: [] },
    });
    assert.deepEqual(await use(ada, "list_rulesets", {}), {
      rulesets: [{ id: saved.id, name: "House style", version: 2 }],
    });
    assert.deepEqual(await use(eve, "list_rulesets", {}), { rulesets: [] });
    assert.equal((await save(eve, {})).error_code, "RULESET_NOT_FOUND");
    const invalid = await save(ada, { content: { rules: "Be brief" } });
    assert.equal(invalid.error_code, "TOOL_ARGUMENTS_INVALID");
  });

  await t.step("a shared ruleset can be read by everyone and saved with admin:*", async () => {
    const service = { apikey: stack.secretKey };
    const shared = await post(service, "save_ruleset", { name: "Shared", content: { rules: [] } });
    const id = shared.structuredContent?.id ?? "";
    const refused = await post(eve.headers, "save_ruleset", { id, content: { rules: ["mine"] } });
    const admin = await platform.addUser("admin");
    await grantScopes(sql, admin.id, ["admin:*"]);

    const byAdmin = await use(admin, "save_ruleset", { id, content: { rules: ["ours"] } });

    assert.equal((await use(eve, "get_ruleset", { id })).version, 1 + 1);
    assert.equal(refused.status, 403);
    assert.ok(refused.error?.message.includes("admin:*"));
    assert.equal(byAdmin.version, 2);
  });

  await t.step("auth events store known fields, and the ledger no others", async () => {
    const metadata = { provider: "google", platform: "web", access_token: "eyJ.secret.token" };
    const event = { event: "SIGNED_IN", metadata: { ...metadata, method: "s3cr3t-p4ssw0rd" } };
    const logged = await use(ada, "log_auth_event", event);

    const [row] = await sql`
      select metadata from public.auth_events where user_id = ${ada.id} and event = 'SIGNED_IN'`;
    const [call] = await sql`
      select request_data from public.mcp_executions
      where user_id = ${ada.id} and tool_name = 'log_auth_event'`;
    assert.deepEqual(logged, { ok: true });
    assert.deepEqual(row?.metadata, { provider: "google", platform: "web" });
    assert.deepEqual(call?.request_data, { event: "SIGNED_IN", metadata: row?.metadata });
    assert.deepEqual(
      await codeOf(ada, "log_auth_event", {
        event: "SIGNED_IN",
        metadata: { password: "hunter2" },
      }),
      [200, undefined],
    );
    const [found] = await sql`
      select count(*)::int as count from public.mcp_tools_cache
      where successful_parameters::text ~ 'hunter2|s3cr3t|eyJ'`;
    assert.equal(found?.count, 0);
  });

  await t.step("auth events need a user and are rate limited", async () => {
    const bob = await platform.addUser("bob");
    // One a minute: none is refilled while the calls are on their way.
    const limit = (calls: number) =>
      sql`
        update public.mcp_policies set calls_per_minute = ${calls}
        where tool_name = 'log_auth_event' returning burst_calls`;
    const [policy] = await limit(1);
    const answers: Awaited<ReturnType<typeof post>>[] = [];
    // As many at once as an isolate serves one caller: more could wait for too long on a busy machine.
    for (let round = 0; round < 4; round++) {
      answers.push(
        ...await Promise.all(
          Array.from(
            { length: 5 },
            () => post(bob.headers, "log_auth_event", { event: "SIGNED_OUT" }),
          ),
        ),
      );
    }
    const byService = await post({ apikey: stack.secretKey }, "log_auth_event", {
      event: "SIGNED_OUT",
    });

    await limit(30);

    const passed = answers.filter(({ status }) => status === 200).length;
    assert.ok(passed >= policy?.burst_calls && passed <= 12, `${passed} of 20 passed`);
    assert.ok(
      answers.every(({ status, error }) =>
        status === 200 || status === 429 && error?.code === "TOOL_RATE_LIMITED"
      ),
    );
    assert.equal(byService.error_code, "CALLER_REQUIRED");
  });

  await t.step("every signed-in user can check a prompt", async () => {
    const text = "Summarize {text} in one sentence, etc.";
    const { issues } = z.object({ issues: z.array(jsonObject) }).parse(
      await use(bare, "validate_prompt", { text }),
    );

    assert.deepEqual(issues.map(({ code, start, end }) => [code, start, end]), [
      ["INJECTION_PRONE_PLACEHOLDER", 10, 16],
      ["VAGUE_WORD", 34, 37],
    ]);
  });

  await t.step("active providers are listed to every signed-in user", async () => {
    await sql`update public.llm_providers set is_active = false where name = 'google'`;
    const { providers } = z.object({ providers: z.array(jsonObject) }).parse(
      await use(bare, "list_providers", {}),
    );

    const rows = await sql`
      select name as key, display_name as label from public.llm_providers
      where is_active order by display_name, name`;
    assert.deepEqual(providers, rows.map((row) => ({ ...row })));
    assert.ok(!providers.some(({ key }) => key === "google"));
    await sql`update public.llm_providers set is_active = true where name = 'google'`;
  });

  await t.step("a real MCP client finds and calls the tools by each of their names", async () => {
    await using connected = await connectSdkClient({
      url: `${mcpUrl}/catalog`,
      headers: ada.headers,
    });
    const { tools } = await connected.client.listTools();
    const names = tools.map(({ name }) => name).sort();

    assert.deepEqual(names, catalogServer.tools.map(({ definition }) => definition.name).sort());
    for (const name of ["create_conversation", "create_conversation@1", "create_conversation_v1"]) {
      const created = await connected.client.callTool({ name, arguments: { title: name } });
      assert.ok(idSchema.parse(created.structuredContent).id, name);
    }
    const recorded = await sql`
      select distinct tool_name, tool_version from public.mcp_executions
      where user_id = ${ada.id} and tool_name like 'create_conversation%'`;
    assert.deepEqual(recorded.map((row) => ({ ...row })), [
      { tool_name: "create_conversation", tool_version: "1" },
    ]);
  });
});
