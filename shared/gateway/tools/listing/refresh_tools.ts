import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { sleep } from "../../../platform/values/sleep.ts";
import { toStorableJson, toStorableText } from "../../../platform/values/storable_json.ts";
import { toCachedForms } from "../../../models/tool_schemas/cached_forms.ts";
import { modelNames } from "../../../models/tool_schemas/model_names.ts";
import { validateValue } from "../../../models/tool_schemas/validate_value.ts";
import { definitionHash } from "./definition_pin.ts";
import {
  type OpenedServer,
  openToolServer,
  type ToolServerPorts,
} from "../kinds/open_tool_server.ts";
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
 * A server that takes longer to list its tools is omitted, so that the agent can start. A shorter
 * timeout in the tool's config applies here too.
 */
export const LISTING_TIMEOUT = { timeoutMs: null, maxTimeoutMs: 15_000 } as const;
/** Maximum number of reported dropped tools, and maximum length of each reason. */
const MAX_DROPPED = 100;
const MAX_NAME_CHARACTERS = 128;
const MAX_REASON_CHARACTERS = 500;

/** The tools of a server, ready for the cache. */
export interface ReadTools {
  readonly tools: readonly ToolToStore[];
  /** The dropped tools, each with the reason. */
  readonly dropped: readonly DroppedTool[];
}

/**
 * Lists a server's tools and stores them in the cache.
 *
 * @returns The dropped tools, each with the reason.
 * @throws SwarmError if the server cannot be reached.
 */
export async function refreshTools(
  registered: RegisteredServer,
  userId: string | null,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<readonly DroppedTool[]> {
  const { tool, connection } = registered;
  const opened = await openToolServer(registered, { userId, ...LISTING_TIMEOUT }, ports);
  const read = await readTools(registered, opened, ports, signal);
  const config = parseToolConfig(tool.slug, tool.type, tool.config);
  await ports.store.recordTools(connection.id, { ...read, ...policyOf(config) });
  return read.dropped;
}

/**
 * Lists the tools of an opened server without secrets, and checks each definition.
 *
 * @throws SwarmError if the server cannot be reached.
 */
export async function readTools(
  registered: RegisteredServer,
  opened: OpenedServer,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<ReadTools> {
  const { tool } = registered;
  const listing = await opened.server.listTools(signal);
  const redactor = opened.redactor();
  const dropped = listing.dropped.map(({ name, reason }): DroppedTool => ({
    name: redactor.head(name, MAX_NAME_CHARACTERS),
    reason: redactor.head(reason, MAX_REASON_CHARACTERS),
  }));
  // By the stored name, because two names may become the same.
  const tools = new Map<string, ToolToStore>();
  const scopes = await scopesByTool(registered, ports);
  const config = parseToolConfig(tool.slug, tool.type, tool.config);
  for (const listed of listing.tools) {
    // Converting one schema takes up to some 10 ms, and there may be a thousand.
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
  return { tools: [...tools.values()], dropped: toStorableDropped(dropped) };
}

/** Limits the reported tools to a useful number, in a form that can be stored and shown. */
function toStorableDropped(dropped: readonly DroppedTool[]): DroppedTool[] {
  const shown = dropped.slice(0, MAX_DROPPED).map(({ name, reason }) => ({
    name: toStorableText(name.slice(0, MAX_NAME_CHARACTERS)),
    reason: toStorableText(reason.slice(0, MAX_REASON_CHARACTERS)),
  }));
  const others = dropped.length - shown.length;
  if (others === 0) return shown;
  return [...shown, { name: "(others)", reason: `${others} more definitions are invalid` }];
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
    // Checked once, here, because a call whose arguments cannot be checked is refused.
    const checked = validateValue({}, inputSchema);
    if (checked.kind === "undecided") {
      return { name, reason: `its schema is unusable: ${checked.reason}` };
    }
    return { definition, forms: toCachedForms({ name: functionName, description, inputSchema }) };
  } catch (error) {
    if (error instanceof SwarmError) return { name, reason: error.message };
    throw error;
  }
}

/** Untrusted hints of a server are dropped. */
function trusted(definition: ToolDefinition, { type, config }: ToolConfig): ToolDefinition {
  const isDistrusted = type === "mcp_server" && config.trust_annotations === false;
  return isDistrusted ? withoutHints(definition) : definition;
}

/** Only definitions of external servers need approval. */
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
