import { z } from "../../../shared/vendor/zod.js";
import {
  findOutcomes,
  findTool,
  readInput,
  type ScriptedAgent,
  type ScriptedAnswer,
  type ScriptedRequest,
  scriptModel,
} from "../../../scripts/models/scripted_agent.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { createAppGateway } from "../../../shared/app/create_app_gateway.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { addAgent, addProvider, addTool } from "../../e2e/operator.ts";
import { type HttpFixture, startHttpServer } from "../../gateway/tools/http_fixture.ts";
import { CHAOS_CONFIG } from "./chaos_config.ts";

/** The agent of all tasks of a chaos run; its role depends on the position of its task. */
export const CHAOS_AGENT = "chaos-agent";

/** The number of handoffs of each master task. */
const CHILDREN = 6;

/** An answer that the model gave. */
export interface GivenAnswer {
  readonly position: string;
  /** The step of the answer, counted from the conversation. */
  readonly seq: number;
  /** Unique to this answer. */
  readonly text: string;
  readonly atMs: number;
}

const inputSchema = z.object({ position: z.string() });
const THINKING_MS = 15;
const WORKING_MS = 10;

/**
 * Plays every task: a master hands off to six children and collects their results. A child looks
 * something up and pays for something; the first child of each master also hands off once
 * more.
 *
 * @param journal Receives each answer when it is given.
 */
export function chaosModel(journal: GivenAnswer[]): ScriptedAgent {
  return scriptModel(CHAOS_AGENT, async (request) => {
    const { position } = inputSchema.parse(readInput(request));
    const given = {
      position,
      seq: nextSeq(request),
      text: `answer ${journal.length + 1}`,
      atMs: Date.now(),
    };
    journal.push(given);
    await new Promise((resolve) => setTimeout(resolve, THINKING_MS));
    return { text: given.text, ...turnOf(request, position) };
  });
}

/** The positions below a task's, in the order of the handoffs. */
export function positionsBelow(position: string): string[] {
  const [, child, grandchild] = position.split(".");
  if (child === undefined) {
    return Array.from({ length: CHILDREN }, (_, index) => `${position}.${index}`);
  }
  return child === "0" && grandchild === undefined ? [`${position}.0`] : [];
}

/** The number of tasks in a job that nothing interrupts. */
export const TASKS_OF_A_JOB = 1 + CHILDREN + 1;

/** Creates the master task of a position. */
export async function createMaster(sql: Sql, position: string): Promise<void> {
  await sql`select private.create_task(${CHAOS_AGENT}, ${sql.json({ position })})`;
}

function turnOf(request: ScriptedRequest, position: string): ScriptedAnswer {
  const handOff = positionsBelow(position).map((below) => ({
    name: "create_subtask",
    arguments: { agent: CHAOS_AGENT, input: { position: below } },
  }));
  const isMaster = !position.includes(".");
  const isFirstTurn = request.messages.every(({ role }) => role !== "assistant");
  if (isFirstTurn) {
    const work = ["look", "pay"].map((name) => (
      { name: findTool(request, name), arguments: { position } }
    ));
    return { toolCalls: isMaster ? handOff : [...work, ...handOff] };
  }
  const brought = findOutcomes(request, "create_subtask").map(({ json }) => json ?? null);
  const done = ["look", "pay"].map((name) => findOutcomes(request, name).length);
  const output = { position, done, brought };
  return { toolCalls: [{ name: "complete_task", arguments: { output } }] };
}

/** A model call and its calls each take a number. */
function nextSeq({ messages }: ScriptedRequest): number {
  return messages.reduce(
    (seq, message) => message.role === "assistant" ? seq + 1 + message.calls.length : seq,
    1,
  );
}

/** Starts the API behind both tools; it records every request, as a payment provider would. */
export function startToolApi(): HttpFixture {
  return startHttpServer(async ({ url }) => {
    await new Promise((resolve) => setTimeout(resolve, WORKING_MS));
    return Response.json({ done: url.pathname });
  });
}

/**
 * Registers the agent, its provider and its tools: a read-only one, and one with a lasting effect.
 */
export async function registerJob(sql: Sql, modelUrl: string, toolUrl: string): Promise<void> {
  const parameters = { type: "object", properties: { position: { type: "string" } } };
  await addProvider(sql, { name: "scripted", baseUrl: `${modelUrl}/v1` });
  const tools = [];
  for (const [slug, method] of [["look", "GET"], ["pay", "POST"]] as const) {
    const config = { method, url: `${toolUrl}/${slug}`, parameters };
    tools.push({ id: await addTool(sql, { slug, type: "http_api", config }) });
    await sql`
      insert into public.mcp_policies (mcp_name, calls_per_minute, burst_calls)
      values (${slug}, 1000000, 1000000)`;
  }
  await addAgent(sql, { slug: CHAOS_AGENT, provider: "scripted", tools });
  await listTools(sql);
}

/**
 * Lists the agent's tools before the workers start. On a busy machine all of them would otherwise
 * start without the tools, because the first listing takes longer than a worker waits for it.
 */
async function listTools(sql: Sql): Promise<void> {
  const [agent] = await sql<{ id: string }[]>`
    select id from public.agents where slug = ${CHAOS_AGENT}`;
  const gateway = createAppGateway({ config: CHAOS_CONFIG, sql, log: () => {} });
  const caller = {
    userId: null,
    agentId: agent?.id ?? null,
    taskId: null,
    clientId: null,
    sessionId: null,
    clientName: null,
    isService: true,
  };
  await waitFor(async () => {
    const { tools } = await gateway.listAgentTools(caller, new AbortController().signal);
    return ["look", "pay"].every((slug) => tools.some(({ server }) => server === slug));
  }, { what: "the list of tools" });
}
