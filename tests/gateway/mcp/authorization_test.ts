import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { waitFor } from "../../../scripts/wait_for.ts";
import { addTool } from "../../e2e/operator.ts";
import { startExternalServer } from "./external_server.ts";
import { grantScopes } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { type RawAnswer, rawClient } from "./raw_message.ts";

const toolsSchema = z.object({ tools: z.array(z.object({ name: z.string() })) });

Deno.test("the MCP endpoint checks who may call what", async (t) => {
  await using external = await startExternalServer();
  await using platform = await sharedPlatform();
  const { sql, project, mcpUrl } = platform;
  await addTool(sql, { slug: "drawings", type: "mcp_server", config: { mcp_url: external.url } });
  const ada = await platform.addUser("ada");
  const bob = await platform.addUser("bob");
  const eve = await platform.addUser("eve");
  await grantScopes(sql, bob.id, ["swarm:run", "mcp:drawings"]);
  await grantScopes(sql, eve.id, ["quoth:read"]);

  await t.step("an invalid credential gets 401 with the OAuth metadata's address", async () => {
    const callers = [
      {},
      { apikey: project.publishableKey },
      { apikey: "sb_secret_wrong" },
      { authorization: "Bearer nonsense" },
    ];
    for (const credentials of callers) {
      const send = rawClient(project.apiUrl, credentials);
      const answer = await send({ path: "/swarm", method: "tools/list" });

      assert.equal(answer.status, 401, JSON.stringify(credentials));
      assert.equal(
        answer.headers.get("www-authenticate"),
        `Bearer resource_metadata="${mcpUrl}/swarm/oauth-protected-resource"`,
      );
    }
  });

  await t.step("everyone can read the OAuth metadata, even from a browser", async () => {
    for (const path of ["", "/swarm"]) {
      const url = `${mcpUrl}${path}/oauth-protected-resource`;
      const answer = await fetch(url, { headers: { origin: "http://localhost:6274" } });

      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      assert.deepEqual(await answer.json(), {
        resource: `${mcpUrl}${path}`,
        authorization_servers: [`${project.apiUrl}/auth/v1`],
        bearer_methods_supported: ["header"],
      });
    }
  });

  await t.step("each caller sees the tools that their scopes allow", async () => {
    const isOf = (slug: string) => (name: string) => name.startsWith(`${slug}__`);
    // A list of all servers omits one that has not answered in time.
    await waitFor(
      async () => namesOf(await bob.send({ method: "tools/list" })).some(isOf("drawings")),
      { what: "the tools of drawings" },
    );
    const [ofAda, ofBob, ofEve, ofService] = await Promise.all(
      [ada.send, bob.send, eve.send, platform.service].map(async (send) =>
        namesOf(await send({ method: "tools/list" }))
      ),
    );

    assert.ok(ofAda?.some(isOf("swarm")) && !ofAda.some(isOf("drawings")));
    assert.ok(ofBob?.some(isOf("swarm")) && ofBob.some(isOf("drawings")));
    assert.ok(!ofEve?.some(isOf("swarm")) && !ofEve?.some(isOf("drawings")));
    assert.ok(ofService?.some(isOf("swarm")) && ofService.some(isOf("drawings")));
  });

  await t.step("a call without its scope gets 403 and names all required scopes", async () => {
    const refusals = [
      {
        caller: eve,
        path: "/swarm",
        name: "create_task",
        scope: "swarm:run",
      },
      { caller: ada, path: "/drawings", name: "picture", scope: "mcp:drawings" },
      { caller: eve, path: "", name: "swarm__create_task", scope: "swarm:run" },
    ];
    for (const { caller, path, name, scope } of refusals) {
      const params = { name, arguments: {} };
      for (const era of ["modern", "legacy"] as const) {
        const answer = await caller.send({ path, method: "tools/call", params, era });

        assert.equal(answer.status, 403, `${path} ${name} ${era}`);
        const challenge = answer.headers.get("www-authenticate") ?? "";
        assert.match(challenge, /^Bearer error="insufficient_scope"/);
        assert.ok(challenge.includes(`scope="${scope}"`), challenge);
        assert.match(challenge, /resource_metadata="http/);
        assert.equal(answer.last.error?.code, "INSUFFICIENT_SCOPE");
      }
    }
  });

  await t.step("the tool in the body counts, not the one in the header", async () => {
    const answer = await eve.send({
      path: "/swarm",
      method: "tools/call",
      params: { name: "create_task", arguments: {} },
      headers: { "mcp-name": "list_agents" },
    });

    assert.ok(answer.status === 403 || answer.status === 400, String(answer.status));
  });

  await t.step("a call in a batch of the earlier protocol is checked as well", async () => {
    const call = {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "create_task", arguments: { agent: "planner", input: "x" } },
    };
    const answer = await fetch(`${mcpUrl}/swarm`, {
      method: "POST",
      headers: {
        ...eve.headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "ping" }, call]),
    });
    await answer.body?.cancel();

    assert.equal(answer.status, 403);
    const [row] = await sql`
      select count(*)::int as tasks from public.tasks
      where created_by in ${sql([ada.id, bob.id, eve.id])}`;
    assert.equal(row?.tasks, 0);
  });

  await t.step("a caller's own credential never reaches an external server", async () => {
    const params = { name: "picture", arguments: { of: "cat" } };
    const called = await bob.send({ path: "/drawings", method: "tools/call", params });

    assert.ok(called.last.result?.content);
    assert.deepEqual(external.credentials, []);
  });
});

function namesOf({ last }: RawAnswer): string[] {
  return toolsSchema.parse(last.result).tools.map(({ name }) => name);
}
