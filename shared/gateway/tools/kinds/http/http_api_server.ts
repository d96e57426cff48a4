import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { toTraceHeaders } from "../../../../platform/http/trace_context.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../platform/values/json.ts";
import type { GuardedFetch } from "../../../../platform/net/guarded_fetch.ts";
import { mayHaveBeenSent } from "../../../../platform/net/fetch_failure.ts";
import { applyCredential, type Credential } from "../../../tool_contracts/credential.ts";
import { withDeadline } from "../../../../platform/values/with_deadline.ts";
import { readHttpAnswer } from "./http_answer.ts";
import { noConnection } from "./no_connection.ts";
import { argumentText, fillJson, fillText, fillUrl, placeholdersOf } from "./template.ts";
import type { HttpApiConfig } from "../../../tool_contracts/tool_config.ts";
import type { ToolDefinition } from "../../../tool_contracts/tool_definition.ts";
import type { ServerAnswer, ServerCall, ToolServer } from "../../../tool_contracts/tool_server.ts";

/** A body of this type is a form, others are JSON. */
const FORM = /^application\/x-www-form-urlencoded\b/i;

interface HttpApiOptions {
  readonly slug: string;
  readonly description: string | null;
  readonly config: HttpApiConfig;
  readonly credential: Credential | null;
  /** A `fetch` that refuses private addresses. */
  readonly fetch: GuardedFetch;
}

/** An HTTP API as a server with one tool, named after its slug. */
export function openHttpApi(options: HttpApiOptions): ToolServer {
  return {
    listTools: () => Promise.resolve({ tools: [describe(options)], dropped: [] }),
    callTool: (call, signal) => send(options, call, signal),
  };
}

function describe({ slug, description, config }: HttpApiOptions): ToolDefinition {
  const isSafe = config.method === "GET" || config.method === "HEAD";
  const isIdempotent = isSafe || config.method === "PUT" || config.method === "DELETE";
  return {
    name: slug,
    description: description ?? `${config.method} ${config.url}`,
    inputSchema: config.parameters,
    annotations: {
      readOnlyHint: config.read_only ?? isSafe,
      idempotentHint: config.idempotent ?? isIdempotent,
    },
  };
}

async function send(
  options: HttpApiOptions,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { slug, credential } = options;
  const { timeoutMs } = call;
  const { url, init } = toRequest(options, call);
  let isAnswered = false;
  try {
    const timed = await withDeadline(timeoutMs, signal, async (deadline) => {
      const response = await options.fetch(url, {
        ...init,
        signal: deadline,
        redirectHosts: options.config.allowed_hosts ?? [url.host],
      });
      isAnswered = true;
      return await readHttpAnswer(response, { server: slug, credential });
    });
    if (timed.kind === "done") return timed.value;
  } catch (error) {
    if (signal.aborted || error instanceof SwarmError) throw error;
    if (isAnswered || mayHaveBeenSent(error)) {
      return lost("connection", `The connection to '${slug}' broke`);
    }
    throw noConnection(
      `the tool server '${slug}'`,
      "Try again later, or check the URL in the tool's config.",
      error,
    );
  }
  return lost("timeout", `'${slug}' did not respond within ${timeoutMs} ms`);
}

function lost(cause: "timeout" | "connection", what: string): ServerAnswer {
  return { kind: "lost", cause, message: `The tool server ${what}` };
}

function toRequest({ config, credential }: HttpApiOptions, call: ServerCall) {
  const args = call.arguments;
  const url = fillUrl(config.url, args);
  assertHostAllowed(url, config);
  const accept = "application/json, text/*;q=0.9, */*;q=0.5";
  const headers = new Headers({ accept, ...toTraceHeaders(call) });
  headers.set("idempotency-key", call.idempotencyKey);
  setHeaders(headers, config.headers ?? {}, args);
  const unnamed = argumentsNotIn(config, args);
  const takesBody = !["GET", "HEAD", "DELETE"].includes(config.method);
  setQuery(url, config.query, takesBody ? {} : unnamed, args);
  const body = config.body === undefined
    ? (takesBody ? unnamed : undefined)
    : fillJson(config.body, args);
  if (body !== undefined && !headers.has("content-type")) {
    headers.set("content-type", "application/json");
  }
  applyCredential(credential, { url, headers });
  const init: RequestInit = { method: config.method, headers };
  if (body === undefined) return { url, init };
  return { url, init: { ...init, body: toBodyText(body, headers.get("content-type") ?? "") } };
}

/** An argument can only select hosts that the operator listed. */
function assertHostAllowed({ host }: URL, { allowed_hosts: allowed }: HttpApiConfig): void {
  if (allowed === undefined || allowed.includes(host)) return;
  throw new SwarmError(
    "TOOL_ADDRESS_FORBIDDEN",
    `Cannot send the request to '${host}': the tool may reach ${allowed.join(", ")}`,
    { hint: "Call the tool again with arguments that lead to one of these hosts." },
  );
}

function toBodyText(body: JsonValue, contentType: string): string {
  if (typeof body === "string") return body;
  if (!isJsonObject(body) || !FORM.test(contentType)) return JSON.stringify(body);
  const form = new URLSearchParams();
  appendAll(form, body);
  return form.toString();
}

function setHeaders(headers: Headers, templates: Record<string, string>, args: JsonObject): void {
  for (const [name, template] of Object.entries(templates)) {
    const value = fillText(template, args);
    if (value === undefined) continue;
    try {
      headers.set(name, value);
    } catch (cause) {
      throw new SwarmError(
        "TOOL_ARGUMENTS_INVALID",
        `Cannot send the header '${name}': an argument has characters that are not allowed in a header`,
        { hint: "Call the tool again without line breaks in that argument.", cause },
      );
    }
  }
}

function setQuery(
  url: URL,
  templates: Record<string, string> | undefined,
  unnamed: JsonObject,
  args: JsonObject,
): void {
  if (templates === undefined) return appendAll(url.searchParams, unnamed);
  for (const [name, template] of Object.entries(templates)) {
    const value = fillJson(template, args);
    if (value === undefined) continue;
    url.searchParams.delete(name);
    appendAll(url.searchParams, { [name]: value });
  }
}

/** Appends values as entries. A list becomes one entry per item, as in OpenAPI. */
function appendAll(entries: URLSearchParams, values: JsonObject): void {
  for (const [name, value] of Object.entries(values)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      const text = argumentText(item);
      if (text !== undefined) entries.append(name, text);
    }
  }
}

/** The arguments without a placeholder in the config. */
function argumentsNotIn(config: HttpApiConfig, args: JsonObject): JsonObject {
  const { url, query, headers, body } = config;
  const named = new Set(
    [url, query, headers, body].flatMap((part) => part === undefined ? [] : placeholdersOf(part)),
  );
  return Object.fromEntries(Object.entries(args).filter(([name]) => !named.has(name)));
}
