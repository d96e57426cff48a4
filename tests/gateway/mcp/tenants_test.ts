import assert from "node:assert/strict";
import { waitFor } from "../../../scripts/wait_for.ts";
import { created, sendRequest } from "../../e2e/create_task_endpoint.ts";
import { addAgent, addTool } from "../../e2e/operator.ts";
import { call, completeWithResults, newestResults, scriptTurns } from "../../e2e/script.ts";
import { startMcpServer } from "../tools/mcp_fixture.ts";
import { grantScopes, type McpUser } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";

const ENDPOINT = "/functions/v1/mcp-execute";

Deno.test("two tenants find none of each other's data at any endpoint", async (t) => {
  const external = await startMcpServer();
  await using servers = new AsyncDisposableStack();
  servers.defer(() => external.stop());
  await using platform = await sharedPlatform();
  const { sql, project, stack } = platform;
  const toolId = await addTool(sql, {
    slug: "contacts",
    type: "mcp_server",
    config: { mcp_url: external.url },
  });
  await addAgent(sql, { slug: "finder", tools: [{ id: toolId }] });
  const descriptions: string[] = [];
  const retryMessages: string[] = [];
  // The first call is always wrong; the second follows the retry message.
  stack.models.addAgent(scriptTurns(
    "finder",
    ({ toolDescriptions }) => {
      descriptions.push(JSON.stringify([...toolDescriptions]));
      return call("contacts__search", { search_value: "wrong" });
    },
    (request) => {
      retryMessages.push(newestResults(request).join("\n"));
      return completeWithResults(request);
    },
  ));
  const tenants = await Promise.all(["ann", "bob"].map(async (name) => {
    const user = await platform.addUser(name);
    await grantScopes(sql, user.id, ["mcp:contacts", "swarm:run"]);
    return { user, value: `${name}@${name}-tenant.example` };
  }));
  for (const { user, value } of tenants) await search(user, value);

  for (const [index, { user, value }] of tenants.entries()) {
    const foreign = tenants[1 - index]?.value ?? "";

    await t.step(
      `the agent of ${value} first reads the shape of arguments that worked, and its owner's values for the retry`,
      async () => {
        const body = { agent: "finder", input: "Find somebody" };
        const { task_id } = created(await sendRequest(project, { headers: user.headers, body }));
        await waitFor(async () => {
          const [task] = await sql`
          select from public.tasks where id = ${task_id}::uuid and status = 'completed'`;
          return task !== undefined;
        }, { what: "the task", intervalMs: 100 });

        const [description = "", retryMessage = ""] = [descriptions.at(-1), retryMessages.at(-1)];
        assert.match(description, /worked for this tool call \(their shape\)/);
        assert.ok(!description.includes(value), "values stay out of descriptions");
        assert.ok(retryMessage.includes(value), retryMessage);
        assert.ok(!retryMessage.includes(foreign), retryMessage);
      },
    );

    await t.step(`${value} lists only arguments that worked for itself`, async () => {
      for (const query of ["", "?server=contacts", "?server=contacts&refresh=true"]) {
        const { status, body } = await sendRequest(project, {
          endpoint: `${ENDPOINT}${query}`,
          method: "GET",
          headers: user.headers,
        });

        const listed = JSON.stringify(body);
        assert.equal(status, 200);
        assert.equal(listed.includes(value), query !== "");
        assert.ok(!listed.includes(foreign));
      }
    });
  }

  await t.step("a third tenant sees only the shape", async () => {
    const carol = await platform.addUser("carol");
    await grantScopes(sql, carol.id, ["mcp:contacts"]);
    const { body } = await sendRequest(project, {
      endpoint: `${ENDPOINT}?server=contacts`,
      method: "GET",
      headers: carol.headers,
    });

    const listed = JSON.stringify(body);
    assert.ok(listed.includes("<email>"));
    for (const { value } of tenants) assert.ok(!listed.includes(value));
  });

  async function search({ headers }: McpUser, searchValue: string): Promise<void> {
    const body = { server: "contacts", tool_name: "search", parameters: { searchValue } };
    const { status } = await sendRequest(project, { endpoint: ENDPOINT, headers, body });
    assert.equal(status, 200);
  }
});
