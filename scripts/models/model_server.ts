import type { RequestListener, Server } from "node:http";
import { SCRIPTED_AGENT_HEADER } from "../../shared/models/llm/scripted_model.ts";
import { LOOPBACK_CALLERS, refusalOf } from "../../stack/local_callers.ts";
import { type AimockFixture, type AimockRequest, loadAimock } from "../deps.ts";
import { YamlFileError } from "../yaml/read_located_yaml.ts";
import { ModelJournal } from "./model_journal.ts";
import { MissingScript, ScriptError } from "./script_error.ts";
import type { ScriptedAgent, ScriptedAnswer, ScriptedRequest } from "./scripted_agent.ts";
import { createFailureFixture, type ScriptedFailure } from "./scripted_failure.ts";
import { parseWireRequest } from "./wire_request.ts";

type FixtureResponse = Exclude<AimockFixture["response"], (...given: never[]) => unknown>;

/** The provider's code of a {@linkcode ScriptError}. */
const SCRIPT_FAILED = "script_failed";

interface ModelServerOptions {
  /** 0 takes any free port. @default 0 */
  readonly port?: number;
  readonly agents?: readonly ScriptedAgent[];
}

/**
 * Finds who plays a request.
 *
 * @throws MissingScript, ScriptError
 */
export type FindAgent = (request: ScriptedRequest) => Promise<ScriptedAgent>;

/** A model provider that serves scripted agents in the real wire formats of providers. */
export interface ModelServer {
  /** Origin, without a path. An `openai` provider's base URL is `${url}/v1`. */
  readonly url: string;
  readonly journal: ModelJournal;
  /** Adds an agent that takes precedence over the existing ones. */
  addAgent(agent: ScriptedAgent): void;
  /** Asks this for requests that none of the agents plays. */
  useFinder(find: FindAgent): void;
  /** Makes the next request of an added agent fail. Several failures happen in order. */
  failNext(agentName: string, failure: ScriptedFailure): void;
  stop(): Promise<void>;
}

/**
 * Starts a model server on 127.0.0.1 that speaks chat completions (`/v1/chat/completions`),
 * Anthropic messages (`/v1/messages`) and Gemini (`/v1beta/models/…`), streamed or not.
 *
 * It plays only the given agents, and those that the finder finds. Any other request, including one
 * for embeddings, gets the provider's error for an unknown model. The server never returns canned
 * text.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { createServer } = await loadAimock();
  const agents = [...options.agents ?? []];
  let findOther: FindAgent = () => Promise.reject(unplayed(agents));
  const journal = new ModelJournal();
  const findAgent = (request: AimockRequest) => {
    if (!isChat(request)) return undefined;
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
  const findElsewhere = async (request: AimockRequest) => {
    try {
      if (!isChat(request)) throw unplayed(agents);
      return await findOther(parseWireRequest(request));
    } catch (error) {
      record(request, undefined);
      throw error;
    }
  };
  const fixtures: AimockFixture[] = [{
    match: { predicate: () => true },
    response: async (request) => {
      try {
        const agent = findAgent(request) ?? await findElsewhere(request);
        record(request, agent);
        return toFixtureResponse(request, await agent.answer(parseWireRequest(request)));
      } catch (error) {
        return toRefusal(error);
      }
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
    useFinder: (find) => void (findOther = find),
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
    if (refusal !== null) return response.writeHead(refusal.status).end();
    // The library passes on only this header, as `_context`.
    request.headers["x-aimock-context"] = request.headers[SCRIPTED_AGENT_HEADER];
    answer.forEach((listener) => listener(request, response));
  });
}

function isChat(request: AimockRequest): boolean {
  return request._endpointType === "chat";
}

function unplayed(agents: readonly ScriptedAgent[]): MissingScript {
  const names = agents.map(({ name }) => name).join(", ") || "none";
  return new MissingScript(`it only plays ${names}, and this request is for another agent`);
}

/** A script that cannot continue is like a request that the model refuses: a retry fails too. */
function toRefusal(error: unknown): FixtureResponse {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof MissingScript) {
    return { error: { message, type: "not_found_error", code: "model_not_found" }, status: 404 };
  }
  const isScripts = error instanceof ScriptError || error instanceof YamlFileError;
  return {
    error: {
      message,
      type: "invalid_request_error",
      ...isScripts ? { code: SCRIPT_FAILED } : {},
    },
    status: 400,
  };
}

function toFixtureResponse(request: AimockRequest, scripted: ScriptedAnswer): FixtureResponse {
  const { text = "", reasoning, toolCalls = [] } = scripted;
  const calls = toolCalls.map((call) => ({
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));
  const usage = estimateUsage(request, text + JSON.stringify(calls));
  return {
    content: text,
    usage,
    ...reasoning === undefined ? {} : { reasoning },
    ...calls.length === 0 ? {} : { toolCalls: calls },
  };
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
