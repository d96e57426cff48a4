import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import { untilListed } from "../../../scripts/demo/until_listed.ts";
import type { ScriptedRequest } from "../../../scripts/models/scripted_agent.ts";
import { findTool } from "../../../scripts/models/scripted_agent.ts";
import { asJsonObject } from "../../../shared/platform/values/json.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { loadMcpServer } from "../../deps.ts";
import { addAgent, addTool } from "../../e2e/operator.ts";
import { call, complete, completeWithResults, scriptTurns } from "../../e2e/script.ts";
import { grantScopes } from "./mcp_platform.ts";
import { type ServedMcp, serveMcp } from "./serve_mcp.ts";
import { sharedPlatform } from "./shared_platform.ts";

const THINGS = 60;
const VERBS = ["list", "read", "create", "cancel", "print"];

Deno.test("an agent finds the tools that it needs among the hundreds of an external server", async (t) => {
  await using server = await startLargeServer();
  await using platform = await sharedPlatform();
  const { sql, stack } = platform;
  const toolId = await addTool(sql, {
    slug: "warehouse",
    type: "mcp_server",
    config: { mcp_url: server.url },
  });
  await addAgent(sql, { slug: "seeker", tools: [{ id: toolId }] });
  const requests: ScriptedRequest[] = [];
  stack.models.addAgent(scriptTurns(
    "seeker",
    (request) => {
      requests.push(request);
      return call("search_tools", { query: "print the label of part 41" });
    },
    (request) => {
      requests.push(request);
      return call(findTool(request, "print_part_41"), { label: "A-41" });
    },
    completeWithResults,
    (request) => {
      requests.push(request);
      // Not offered, but the agent's own.
      return call("warehouse__cancel_part_7", { label: "A-7" });
    },
    (request) => {
      requests.push(request);
      return complete(request.messages.at(-1)?.text ?? "");
    },
  ));
  const ada = await platform.addUser("ada");
  await grantScopes(sql, ada.id, ["swarm:run", "mcp:warehouse"]);
  const use = async (tool: string, args: Record<string, string | number>) => {
    const { last } = await ada.send({
      path: "/swarm",
      method: "tools/call",
      params: { name: tool, arguments: args },
    });
    assert.notEqual(last.result?.isError, true, JSON.stringify(last));
    return asJsonObject(last.result?.structuredContent);
  };
  const untilCompleted = async (taskId: string) => {
    await waitFor(async () => {
      const [row] = await sql`select status, error from public.tasks where id = ${taskId}::uuid`;
      assert.notEqual(row?.status, "failed", JSON.stringify(row?.error));
      return row?.status === "completed";
    }, { what: "the end of the task" });
    const [row] = await sql`select output from public.tasks where id = ${taskId}::uuid`;
    return JSON.stringify(row?.output);
  };
  await untilListed(stack, "warehouse");
  const { task_id: taskId } = z.object({ task_id: z.string() }).parse(
    await use("create_task", { agent: "seeker", input: "Get me a sticker" }),
  );

  await t.step("the search finds the tool, which the next prompt offers", async () => {
    assert.match(await untilCompleted(taskId), /print part 41: A-41/);
    const [first, second] = requests;
    assert.ok(first);
    assert.ok(first.toolNames.includes("search_tools"));
    assert.ok(!first.toolNames.includes("warehouse__print_part_41"));
    assert.match(first.toolDescriptions.get("search_tools") ?? "", /servers: warehouse\./);
    assert.ok(JSON.stringify([...first.toolDescriptions]).length < 40_000);
    assert.deepEqual(second?.toolNames.slice(0, first.toolNames.length), first.toolNames);
  });

  await t.step("a later run offers the same, and calls what it does not offer", async () => {
    await sql`select public.continue_task(${taskId}::uuid, '"And cancel part 7"'::jsonb)`;
    await waitFor(() => Promise.resolve(requests.length === 4), { what: "the second run" });
    assert.match(await untilCompleted(taskId), /cancel part 7: A-7/);
    const [, second, third, fourth] = requests;
    assert.deepEqual(third?.toolNames, second?.toolNames);
    assert.deepEqual(fourth?.toolNames, [...third?.toolNames ?? [], "warehouse__cancel_part_7"]);
  });

  await t.step("a new task of the user begins with the tools that worked", async () => {
    await use("create_task", { agent: "seeker", input: "Again" });
    await waitFor(() => Promise.resolve(requests.length > 4), { what: "the new task" });
    assert.ok(requests[4]?.toolNames.includes("warehouse__print_part_41"));
  });

  await t.step("the trace says what the model searched and which tools it saw", async () => {
    const prompt = await use("read_prompt", { task_id: taskId, seq: 3 });
    const [searched] = await sql`
      select step.name, step.input #>> '{arguments,query}' as query from public.task_steps as step
      where step.task_id = ${taskId}::uuid and step.seq = 2`;
    assert.deepEqual(searched, { name: "search_tools", query: "print the label of part 41" });
    assert.deepEqual(
      prompt.offered_tools,
      requests[1]?.toolNames.filter((name) => name.startsWith("warehouse__")),
    );
    assert.ok(z.array(z.string()).parse(prompt.system_tools).includes("search_tools"));
  });
});

async function startLargeServer(): Promise<ServedMcp> {
  const { createMcpHandler, McpServer } = await loadMcpServer();
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "Warehouse", version: "1.0.0" });
    for (let part = 1; part <= THINGS; part++) {
      for (const verb of VERBS) {
        server.registerTool(`${verb}_part_${part}`, {
          description: `Does ${verb} for part ${part} of the warehouse, by its label.`,
          inputSchema: z.object({ label: z.string() }),
        }, ({ label }) => ({
          content: [{ type: "text" as const, text: `${verb} part ${part}: ${label}` }],
        }));
      }
    }
    return server;
  });
  return serveMcp(handler);
}
