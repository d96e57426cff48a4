import type { RequestListener, Server } from "node:http";
import { LOOPBACK_CALLERS, refusalOf } from "../../stack/local_callers.ts";
import { type AimockFixture, type AimockRequest, loadAimock } from "../deps.ts";
import { ModelJournal } from "./model_journal.ts";
import type { ScriptedAgent, ScriptedAnswer } from "./scripted_agent.ts";
import { createFailureFixture, type ScriptedFailure } from "./scripted_failure.ts";
import { parseWireRequest } from "./wire_request.ts";

type FixtureResponse = Exclude<AimockFixture["response"], (...given: never[]) => unknown>;

interface ModelServerOptions {
  /** 0 takes any free port. @default 0 */
  readonly port?: number;
  readonly agents?: readonly ScriptedAgent[];
}

/** A model provider that serves scripted agents in the real wire formats of providers. */
export interface ModelServer {
  /** Origin, without a path. An `openai` provider's base URL is `${url}/v1`. */
  readonly url: string;
  readonly journal: ModelJournal;
  /** Adds an agent that takes precedence over the existing ones. */
  addAgent(agent: ScriptedAgent): void;
  /** Makes this agent's next request fail. Several failures happen in order. */
  failNext(agentName: string, failure: ScriptedFailure): void;
  stop(): Promise<void>;
}

/**
 * Starts a model server on 127.0.0.1 that speaks chat completions (`/v1/chat/completions`),
 * Anthropic messages (`/v1/messages`) and Gemini (`/v1beta/models/…`), streamed or not.
 *
 * It plays only the given agents. Any other request, including one for embeddings, gets the
 * provider's error for an unknown model. The server never returns canned text.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { createServer } = await loadAimock();
  const agents = [...options.agents ?? []];
  const journal = new ModelJournal();
  const findAgent = (request: AimockRequest) => {
    if (request._endpointType !== "chat") return undefined;
    const parsed = parseWireRequest(request);
    return agents.find((agent) => agent.plays(parsed));
  };
  const record = (request: AimockRequest, agent: ScriptedAgent | undefined) =>
    journal.add({
      atMs: Date.now(),
      agent: agent?.name ?? null,
      model: request.model,
      body: JSON.stringify(request),
    });
  const fixtures: AimockFixture[] = [{
    match: { predicate: () => true },
    response: (request) => {
      const agent = findAgent(request);
      record(request, agent);
      return agent === undefined ? unknownModel(request.model, agents) : play(request, agent);
    },
  }];
  const { server, url } = await createServer(fixtures, {
    host: "127.0.0.1",
    port: options.port ?? 0,
    logLevel: "silent",
    // Use only the journal of this module: the library's would grow and store the callers' keys.
    journalMaxEntries: 1,
  });
  refuseForeignCallers(server);
  return {
    url,
    journal,
    addAgent: (agent) => void agents.unshift(agent),
    failNext: (agentName, failure) => {
      const isFor = (request: AimockRequest) => findAgent(request)?.name === agentName;
      const onPlayed = (request: AimockRequest) => record(request, findAgent(request));
      // The server reads this array and uses the first fixture that matches.
      fixtures.splice(-1, 0, createFailureFixture(failure, isFor, onPlayed));
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      // Clients keep idle connections for minutes, and `close()` would wait for them.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Applies the rules of {@linkcode serveLocally} to a server of Node. */
function refuseForeignCallers(server: Server): void {
  const answer = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  // No provider of the product uses them.
  server.removeAllListeners("upgrade");
  server.on("request", (request, response) => {
    const { host = "", origin = null } = request.headers;
    const refusal = refusalOf({ hosts: [host], origin }, LOOPBACK_CALLERS);
    if (refusal === null) return answer.forEach((listener) => listener(request, response));
    response.writeHead(refusal.status).end();
  });
}

async function play(request: AimockRequest, agent: ScriptedAgent): Promise<FixtureResponse> {
  try {
    return toFixtureResponse(request, await agent.answer(parseWireRequest(request)));
  } catch (error) {
    // A script that cannot continue is like a request that the model refuses: a retry fails too.
    const message = error instanceof Error ? error.message : String(error);
    return { error: { message, type: "invalid_request_error" }, status: 400 };
  }
}

function unknownModel(model: string, agents: readonly ScriptedAgent[]): FixtureResponse {
  const names = agents.map((agent) => agent.name).join(", ") || "none";
  const message =
    `Cannot answer with the scripted model '${model}': it only plays the agents of demo and ` +
    `tests (${names}), and this request is for another agent. Give the agent a real provider.`;
  return { error: { message, type: "not_found_error", code: "model_not_found" }, status: 404 };
}

function toFixtureResponse(request: AimockRequest, scripted: ScriptedAnswer): FixtureResponse {
  const { text = "", toolCalls = [] } = scripted;
  const calls = toolCalls.map((call) => ({
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));
  const usage = estimateUsage(request, text + JSON.stringify(calls));
  return calls.length === 0 ? { content: text, usage } : { content: text, toolCalls: calls, usage };
}

/** Estimates four characters per token, and returns the counts with the names of all three APIs. */
function estimateUsage(request: AimockRequest, output: string) {
  const input = Math.ceil(JSON.stringify(request.messages).length / 4);
  const written = Math.ceil(output.length / 4);
  return {
    prompt_tokens: input,
    completion_tokens: written,
    total_tokens: input + written,
    input_tokens: input,
    output_tokens: written,
    promptTokenCount: input,
    candidatesTokenCount: written,
    totalTokenCount: input + written,
  };
}
