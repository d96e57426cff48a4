import { definedOnly } from "../../../../platform/values/defined_only.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { asJsonObject, type JsonObject, type JsonValue } from "../../../../platform/values/json.ts";
import { nearestNames } from "../../../../platform/values/nearest_names.ts";
import { withDeadline } from "../../../../platform/values/with_deadline.ts";
import type { ServerRelay } from "../../../tool_contracts/tool_server.ts";
import { assertCanBeAsked } from "../../../tool_contracts/assert_can_be_asked.ts";
import {
  InputRequired,
  type InternalPrompt,
  type InternalResource,
  type InternalResourceTemplate,
  type InternalServer,
  type ToolContext,
} from "../../../tool_contracts/internal_server.ts";

/** Creates the context of one request. */
type ContextMaker = (signal: AbortSignal) => ToolContext;

/** A resource or prompt of an internal server, with its required scopes. */
export interface ScopedFeature {
  readonly scopes: readonly string[];
}

/**
 * Answers requests for an internal server's resources and prompts from its declarations.
 *
 * @throws SwarmError `RESOURCE_NOT_FOUND`, `TOOL_ARGUMENTS_INVALID`, `TOOL_TIMEOUT`.
 */
export async function relayInternal(
  server: InternalServer,
  request: ServerRelay,
  createContext: ContextMaker,
  signal: AbortSignal,
): Promise<JsonObject> {
  const timed = await withDeadline(
    request.timeoutMs,
    signal,
    (deadline) => answer(server, request, () => createContext(deadline)),
  );
  if (timed.kind === "done") return timed.value;
  throw new SwarmError(
    "TOOL_TIMEOUT",
    `'${server.name}' did not respond within ${request.timeoutMs} ms`,
    { hint: "Try again later." },
  );
}

/** The requested declaration, whose scopes are required; null for a list. */
export function featureOf(
  server: InternalServer,
  { method, params }: Pick<ServerRelay, "method" | "params">,
): ScopedFeature | null {
  switch (method) {
    case "resources/read": {
      const uri = String(params.uri ?? "");
      return server.resources?.find((resource) => resource.uri === uri) ??
        server.resourceTemplates?.find(({ uriTemplate }) => matchUri(uriTemplate, uri) !== null) ??
        null;
    }
    case "prompts/get":
      return server.prompts?.find(({ name }) => name === params.name) ?? null;
    case "resources/list":
    case "resources/templates/list":
    case "prompts/list":
    case "completion/complete":
      return null;
  }
}

async function answer(
  server: InternalServer,
  { method, params }: ServerRelay,
  createContext: () => ToolContext,
): Promise<JsonObject> {
  switch (method) {
    case "resources/list":
      return { resources: (server.resources ?? []).map(describeResource) };
    case "resources/templates/list":
      return { resourceTemplates: (server.resourceTemplates ?? []).map(describeTemplate) };
    case "resources/read":
      return await readResource(server, String(params.uri ?? ""), createContext());
    case "prompts/list":
      return { prompts: (server.prompts ?? []).map(describePrompt) };
    case "prompts/get":
      return await getPrompt(server, params, createContext());
    case "completion/complete":
      return await complete(server, params, createContext());
  }
}

function describeResource(resource: InternalResource): JsonObject {
  const { read: _, scopes: __, ...described } = resource;
  return described;
}

function describeTemplate(template: InternalResourceTemplate): JsonObject {
  const { read: _, scopes: __, ...described } = template;
  return described;
}

function describePrompt({ name, title, description, arguments: args }: InternalPrompt): JsonObject {
  return {
    name,
    description,
    ...definedOnly({ title }),
    arguments: args.map(({ name, description, isRequired }) => ({
      name,
      required: isRequired,
      ...definedOnly({ description }),
    })),
  };
}

async function readResource(
  server: InternalServer,
  uri: string,
  context: ToolContext,
): Promise<JsonObject> {
  const resource = server.resources?.find((candidate) => candidate.uri === uri);
  if (resource !== undefined) return toContents(await resource.read(context));
  for (const template of server.resourceTemplates ?? []) {
    const variables = matchUri(template.uriTemplate, uri);
    if (variables === null) continue;
    const contents = await template.read(uri, variables, context);
    if (contents !== null) return toContents(contents);
  }
  throw new SwarmError("RESOURCE_NOT_FOUND", `'${server.name}' has no resource '${uri}'`, {
    hint: "List them with resources/list.",
    details: { uri },
  });
}

function toContents(contents: readonly object[]): JsonObject {
  return { contents: contents as unknown as JsonValue };
}

/** The decoded variables of a URI that matches the template; null if it does not match. */
function matchUri(template: string, uri: string): Record<string, string> | null {
  const parts = template.split(/\{(\w+)\}/);
  const pattern = parts
    .map((part, index) =>
      index % 2 === 0 ? part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : `(?<${part}>[^/]+)`
    )
    .join("");
  const match = new RegExp(`^${pattern}$`).exec(uri);
  if (match === null) return null;
  try {
    return Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    return null; // Not a value that a client encoded.
  }
}

async function getPrompt(
  server: InternalServer,
  params: JsonObject,
  context: ToolContext,
): Promise<JsonObject> {
  const name = String(params.name ?? "");
  const prompts = server.prompts ?? [];
  const prompt = prompts.find((candidate) => candidate.name === name);
  if (prompt === undefined) {
    const nearest = nearestNames(name, prompts.map((candidate) => candidate.name));
    throw new SwarmError("RESOURCE_NOT_FOUND", `'${server.name}' has no prompt '${name}'`, {
      hint: nearest.length === 0
        ? "List them with prompts/list."
        : `Did you mean ${nearest.join(" or ")}?`,
      details: { name },
    });
  }
  const args = Object.fromEntries(
    Object.entries(asJsonObject(params.arguments)).map(([key, value]) => [key, String(value)]),
  );
  const missing = prompt.arguments.find(({ name, isRequired }) =>
    isRequired && !Object.hasOwn(args, name)
  );
  if (missing !== undefined) {
    throw new SwarmError(
      "TOOL_ARGUMENTS_INVALID",
      `Cannot get the prompt '${name}': the argument '${missing.name}' is missing`,
    );
  }
  const messages = await prompt.get(args, context);
  if (messages instanceof InputRequired) {
    assertCanBeAsked(messages, context.inputCapabilities);
    const { inputRequests, requestState } = messages;
    return {
      resultType: "input_required",
      inputRequests,
      ...definedOnly({ requestState }),
    };
  }
  return { description: prompt.description, messages: messages as unknown as JsonValue };
}

/** Maximum number of values per answer in the protocol. */
const MAX_COMPLETIONS = 100;

async function complete(
  server: InternalServer,
  params: JsonObject,
  context: ToolContext,
): Promise<JsonObject> {
  const ref = asJsonObject(params.ref);
  const { name = "", value = "" } = asJsonObject(params.argument);
  const of = ref.type === "ref/prompt"
    ? { prompt: String(ref.name ?? "") }
    : { uriTemplate: String(ref.uri ?? "") };
  const request = { of, argument: String(name), value: String(value) };
  const values = await server.complete?.(request, context) ?? [];
  return {
    completion: {
      values: values.slice(0, MAX_COMPLETIONS),
      total: values.length,
      hasMore: values.length > MAX_COMPLETIONS,
    },
  };
}
