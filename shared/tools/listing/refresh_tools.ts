import { SwarmError } from "../../errors/swarm_error.ts";
import { sleep } from "../../sleep.ts";
import { toStorableJson, toStorableText } from "../../storable_json.ts";
import { toCachedForms } from "../../tool_schemas/cached_forms.ts";
import { modelNames } from "../../tool_schemas/model_names.ts";
import { validateValue } from "../../tool_schemas/validate_value.ts";
import { definitionHash } from "./definition_pin.ts";
import { openToolServer, type ToolServerPorts } from "../kinds/open_tool_server.ts";
import { parseToolConfig, type ToolConfig } from "../../tool_contracts/tool_config.ts";
import {
  descriptionOf,
  type ToolDefinition,
  toolDefinitionSchema,
  withoutHints,
} from "../../tool_contracts/tool_definition.ts";
import type { DroppedTool } from "../../tool_contracts/tool_server.ts";
import type { RegisteredServer } from "../../tool_contracts/tool_records.ts";
import type { ToolToStore } from "../../tool_contracts/tool_store.ts";

/**
 * A server that takes longer only to list its tools is left out, so that the agent can begin. A
 * shorter timeout in the tool's config counts here too.
 */
const LISTING_TIMEOUT_MS = 15_000;
/** Of the tools that are left out: how many are told, and how much of each. */
const MAX_DROPPED = 100;
const MAX_NAME_CHARACTERS = 128;
const MAX_REASON_CHARACTERS = 500;

/**
 * Asks a server for its tools and stores them in the cache.
 *
 * @returns The tools that had to be left out, each with the reason.
 * @throws SwarmError when the server cannot be asked.
 */
export async function refreshTools(
  registered: RegisteredServer,
  userId: string | null,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<readonly DroppedTool[]> {
  const { tool, connection } = registered;
  const options = { userId, timeoutMs: null, maxTimeoutMs: LISTING_TIMEOUT_MS };
  const opened = await openToolServer(registered, options, ports);
  const listing = await opened.server.listTools(signal);
  const redactor = opened.redactor();
  const dropped = listing.dropped.map(({ name, reason }): DroppedTool => ({
    name: redactor.head(name, MAX_NAME_CHARACTERS),
    reason: redactor.head(reason, MAX_REASON_CHARACTERS),
  }));
  // By the name that is stored, which two names may come to.
  const tools = new Map<string, ToolToStore>();
  const scopes = await scopesByTool(registered, ports);
  const config = parseToolConfig(tool.slug, tool.type, tool.config);
  for (const listed of listing.tools) {
    // Converting one schema takes up to a few hundredths of a second, and there may be a thousand.
    await sleep(0, signal);
    const safe = await redactor.jsonInTurns(JSON.parse(JSON.stringify(listed)));
    const definition = toolDefinitionSchema.parse(toStorableJson(safe));
    const stored = toStored(tool.slug, trusted(definition, config));
    if ("reason" in stored) dropped.push(stored);
    else {
      const hash = definitionHash(definition);
      const { name } = definition;
      tools.set(name, { ...stored, hash, scopes: scopes.get(name) ?? [] });
    }
  }
  const leftOut = toStorableDropped(dropped);
  const kept = { tools: [...tools.values()], dropped: leftOut, ...policyOf(config) };
  await ports.store.storeTools(connection.id, kept);
  return leftOut;
}

/** As many as are of use to somebody, each as it can be stored and shown. */
function toStorableDropped(dropped: readonly DroppedTool[]): DroppedTool[] {
  const shown = dropped.slice(0, MAX_DROPPED).map(({ name, reason }) => ({
    name: toStorableText(name.slice(0, MAX_NAME_CHARACTERS)),
    reason: toStorableText(reason.slice(0, MAX_REASON_CHARACTERS)),
  }));
  const others = dropped.length - shown.length;
  if (others === 0) return shown;
  return [...shown, { name: "(others)", reason: `${others} more definitions are broken` }];
}

function toStored(
  server: string,
  definition: ToolDefinition,
): Pick<ToolToStore, "definition" | "forms"> | DroppedTool {
  const { name } = definition;
  try {
    const [functionName = name] = modelNames([{ server, toolName: name }]);
    const description = descriptionOf(definition);
    const { inputSchema } = definition;
    // Once, here: a call whose arguments cannot be checked is refused.
    const checked = validateValue({}, inputSchema);
    if (checked.kind === "undecided") {
      return { name, reason: `its schema cannot be used: ${checked.reason}` };
    }
    return { definition, forms: toCachedForms({ name: functionName, description, inputSchema }) };
  } catch (error) {
    if (error instanceof SwarmError) return { name, reason: error.message };
    throw error;
  }
}

/** Hints of a server whose operator does not vouch for them are not passed on to anybody. */
function trusted(definition: ToolDefinition, { type, config }: ToolConfig): ToolDefinition {
  const isDistrusted = type === "mcp_server" && config.trust_annotations === false;
  return isDistrusted ? withoutHints(definition) : definition;
}

/** What is not somebody else's word needs no approval. */
function policyOf({ type, config }: ToolConfig) {
  if (type !== "mcp_server") return { isRemote: false, isTrusted: true, holdsNew: false };
  return {
    isRemote: true,
    isTrusted: config.trusted === true,
    holdsNew: config.new_tools !== "approve",
  };
}

async function scopesByTool(
  { tool }: RegisteredServer,
  { loadInternalServer }: ToolServerPorts,
): Promise<Map<string, readonly string[]>> {
  const internal = await loadInternalServer(tool);
  return new Map(
    (internal?.tools ?? []).map(({ definition, scopes }) => [definition.name, scopes]),
  );
}
