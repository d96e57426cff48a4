import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { refused, sendRequest } from "../../e2e/create_task_endpoint.ts";
import { addTool } from "../../e2e/operator.ts";
import { oauthClientOf } from "../../security/oauth_client.ts";
import { startExternalServer } from "./external_server.ts";
import { grantScopes, type McpPlatform, type McpUser } from "./mcp_platform.ts";
import { rawClient } from "./raw_message.ts";
import { sharedPlatform } from "./shared_platform.ts";

const LIST_AGENTS = { name: "list_agents", arguments: {} };
const PICTURE = { name: "picture", arguments: { of: "cat" } };
const toolsSchema = z.object({ tools: z.array(z.object({ name: z.string() })) });

Deno.test("each OAuth client of a user has the scopes of its own row", async (t) => {
  await using external = await startExternalServer();
  await using platform = await sharedPlatform();
  const { sql, project } = platform;
  await addTool(sql, { slug: "album", type: "mcp_server", config: { mcp_url: external.url } });
  const ada = await platform.addUser("ada");
  await grantScopes(sql, ada.id, ["swarm:run"], "editor");
  await grantScopes(sql, ada.id, ["mcp:album"], "reader");
  await grantScopes(sql, ada.id, ["swarm:run", "mcp:album"]);
  const [editor, reader, other] = await Promise.all(
    ["editor", "reader", "unheard of"].map((client) => asClient(platform, ada, client)),
  );
  assert.ok(editor && reader && other);

  await t.step("both act as the user, each with its own tools", async () => {
    /** Servers whose tools need a scope; some of the catalog need none. */
    const servers = async ({ send }: Client) => {
      const { last } = await send({ method: "tools/list" });
      const names = toolsSchema.parse(last.result).tools.map(({ name }) => name);
      return [...new Set(names.map((name) => name.split("__")[0]))]
        .filter((name) => name !== "catalog");
    };
    assert.deepEqual(await servers(editor), ["swarm"]);
    assert.deepEqual(await servers(reader), ["album"]);
    assert.deepEqual(await servers(other), ["album", "swarm"], "the row without a client");

    await reader.send({ path: "/album", method: "tools/call", params: PICTURE });
    await editor.send({ path: "/swarm", method: "tools/call", params: LIST_AGENTS });
    const rows = await sql`
      select mcp_name, user_id::text, status from public.mcp_executions
      where user_id = ${ada.id} order by mcp_name`;
    assert.deepEqual(rows.map((row) => ({ ...row })), [
      { mcp_name: "album", user_id: ada.id, status: "success" },
      { mcp_name: "swarm", user_id: ada.id, status: "success" },
    ]);
  });

  const refusals = [
    { client: reader, server: "swarm", params: LIST_AGENTS, scope: "swarm:run" },
    { client: editor, server: "album", params: PICTURE, scope: "mcp:album" },
  ];

  await t.step("plain JSON reports it in the error's details", async () => {
    for (const { client, server, params, scope } of refusals) {
      const answer = await sendRequest(project, {
        endpoint: "/functions/v1/mcp-execute",
        headers: client.headers,
        body: { server, tool_name: params.name, parameters: params.arguments },
      });

      const { code, details } = refused(answer);
      assert.deepEqual([answer.status, code], [403, "INSUFFICIENT_SCOPE"]);
      const { missing_scopes } = z.looseObject({ missing_scopes: z.array(z.string()) })
        .parse(details);
      assert.deepEqual(missing_scopes, [scope]);
    }
  });

  await t.step("a scope that an operator adds counts from the next request on", async () => {
    await sql`
      update public.mcp_grants set scopes = scopes || '{swarm:run}'
      where user_id = ${ada.id} and client_id = 'reader'`;
    const { last } = await reader.send({
      path: "/swarm",
      method: "tools/call",
      params: LIST_AGENTS,
    });

    assert.ok(last.result?.structuredContent);
  });
});

type Client = Awaited<ReturnType<typeof asClient>>;

/** The user through a program with this Auth token. */
async function asClient(platform: McpPlatform, { user }: McpUser, clientId: string) {
  const { headers } = await oauthClientOf(platform, user.accessToken, clientId);
  return { headers, send: rawClient(platform.project.apiUrl, headers) };
}
