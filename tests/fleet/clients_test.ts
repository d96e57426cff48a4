import assert from "node:assert/strict";
import { FOREIGN_CLIENTS, loadAiSdkMcp, loadMcpSdkV1 } from "../deps.ts";
import { connectSdkClient } from "../gateway/mcp/sdk_client.ts";
import { bootMcpPlatform } from "../gateway/mcp/mcp_platform.ts";
import { DENO_RUN } from "./foreign_server.ts";

const TOOL = "list_agents";
/** A refused call of a tool with an output schema. */
const UNFIT = { name: "get_task", arguments: { task_id: "none" } };

Deno.test("third-party clients use the endpoint as a signed-in user", async (t) => {
  await using platform = await bootMcpPlatform();
  const { headers } = await platform.addUser("ada");
  const url = `${platform.mcpUrl}/swarm`;
  const headerPairs = Object.entries(headers);

  await t.step("the official SDK, version 2", async () => {
    await using connected = await connectSdkClient({ url, headers });
    const { tools } = await connected.client.listTools();
    const result = await connected.client.callTool({ name: TOOL, arguments: {} });
    assert.ok(tools.some(({ name }) => name === TOOL));
    assert.ok(result.isError !== true && result.structuredContent !== undefined);
  });

  await t.step("the official SDK, version 1", async () => {
    const { Client, StreamableHTTPClientTransport } = await loadMcpSdkV1();
    const client = new Client({ name: "v1", version: "1" });
    const requestInit = { headers: { ...headers } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    const { tools } = await client.listTools();
    const result = await client.callTool({ name: TOOL, arguments: {} });
    // It validates the structure of errors against the tool's schema, too.
    const refused = await client.callTool(UNFIT);
    await client.close();
    assert.ok(tools.some(({ name }: { name: string }) => name === TOOL));
    assert.ok(result.isError !== true && result.structuredContent !== undefined);
    assert.equal(refused.isError, true);
    assert.match(JSON.stringify(refused.content), /task_id/);
  });

  await t.step("@ai-sdk/mcp", async () => {
    const { createMCPClient } = await loadAiSdkMcp();
    const client = await createMCPClient({ transport: { type: "http", url, headers } });
    const tools = await client.tools();
    const options = { toolCallId: "1", messages: [], context: {} };
    const result = await tools[TOOL]?.execute?.({}, options);
    await client.close();
    assert.match(JSON.stringify(result), /agents/);
  });

  await t.step("mcporter", async () => {
    const config = await Deno.makeTempFile({ suffix: ".json" });
    await Deno.writeTextFile(
      config,
      JSON.stringify({ mcpServers: { swarm: { url, headers } } }),
    );
    const printed = await run([
      FOREIGN_CLIENTS.mcporter,
      "--config",
      config,
      "call",
      `swarm.${TOOL}`,
    ]);
    await Deno.remove(config);
    assert.match(printed, /agents/);
  });

  for (const era of ["modern", "legacy"]) {
    await t.step(`the inspector's command line, ${era}`, async () => {
      const printed = await run([
        FOREIGN_CLIENTS.inspector,
        "--cli",
        url,
        "--transport",
        "http",
        "--protocol-era",
        era,
        ...headerPairs.flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
        "--method",
        "tools/call",
        "--tool-name",
        TOOL,
      ]);
      assert.match(printed, /agents/);
    });
  }
});

/** The output of a program from npm; it runs outside the project, whose packages differ. */
async function run(args: readonly string[]): Promise<string> {
  const cwd = await Deno.makeTempDir({ prefix: "supaswarm-client-" });
  try {
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...DENO_RUN.slice(1), ...args],
      cwd,
      env: { NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const printed = new TextDecoder().decode(stdout);
    assert.ok(success, `${printed}\n${new TextDecoder().decode(stderr)}`);
    return printed;
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}
