import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { createTurns } from "../../../platform/values/in_turns.ts";
import { toStorableJson, toStorableText } from "../../../platform/values/storable_json.ts";
import { type CachedForms, toCachedForms } from "../../../models/tool_schemas/cached_forms.ts";
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

/** A definition of this size takes well under a turn. */
const MAX_SMALL_CHARACTERS = 16_384;

/** Prepared tools are stored in batches: a worker that dies loses one at most. */
const BATCH_SIZE = 50;

/** The tools of a server, ready for the cache. */
export interface ReadTools {
  readonly tools: readonly ToolToStore[];
  /** The dropped tools, each with the reason. */
  readonly dropped: readonly DroppedTool[];
}

/**
 * Lists a server's tools and stores them in the cache. Definitions that were prepared before, also
 * by a caller that died, are not prepared again.
 *
 * @returns The dropped tools, each with the reason.
 * @throws SwarmError if the server cannot be reached.
 */
export async function refreshTools(
  registered: RegisteredServer,
  userId: string | null,
  ports: ToolServerPorts,
): Promise<readonly DroppedTool[]> {
  const { tool, connection: { id } } = registered;
  const { store } = ports;
  const opened = await openToolServer(registered, { userId, ...LISTING_TIMEOUT }, ports);
  const policy = policyOf(parseToolConfig(tool.slug, tool.type, tool.config));
  const { signal: neverAborted } = new AbortController();
  const read = await readTools(registered, opened, ports, neverAborted, {
    hashes: new Set(await store.preparedHashes(id)),
    store: (batch) => store.prepareTools(id, batch),
  });
  await store.recordTools(id, { ...read, ...policy });
  return read.dropped;
}

interface Prepared {
  /** Tools with these hashes have stored forms. */
  readonly hashes: ReadonlySet<string>;
  store(batch: readonly ToolToStore[]): Promise<void>;
}

const NOTHING_PREPARED: Prepared = { hashes: new Set(), store: () => Promise.resolve() };

/**
 * Lists the tools of an opened server without secrets, and checks each definition.
 *
 * @param prepared What need not be prepared. @default nothing
 * @throws SwarmError if the server cannot be reached.
 */
export async function readTools(
  registered: RegisteredServer,
  opened: OpenedServer,
  ports: ToolServerPorts,
  signal: AbortSignal,
  prepared: Prepared = NOTHING_PREPARED,
): Promise<ReadTools> {
  const { tool } = registered;
  const listing = await opened.server.listTools(signal);
  const redactor = opened.redactor();
  const dropped = listing.dropped.map(({ name, is_part: isPart = false, reason }): DroppedTool => ({
    name: redactor.head(name, MAX_NAME_CHARACTERS),
    is_part: isPart,
    reason: redactor.head(
      isPart ? `offered without a part: ${reason}` : reason,
      MAX_REASON_CHARACTERS,
    ),
  }));
  // By the stored name, because two names may become the same.
  const tools = new Map<string, ToolToStore>();
  const scopes = await scopesByTool(registered, ports);
  const config = parseToolConfig(tool.slug, tool.type, tool.config);
  const batch: ToolToStore[] = [];
  const takeTurn = createTurns();
  for (const listed of listing.tools) {
    // Preparing one tool takes up to some 10 ms, and there may be a thousand.
    await takeTurn();
    const isSmall = JSON.stringify(listed).length <= MAX_SMALL_CHARACTERS;
    const plain = JSON.parse(JSON.stringify(listed));
    const safe = isSmall ? redactor.json(plain) : await redactor.jsonInTurns(plain);
    const definition = toolDefinitionSchema.parse(toStorableJson(safe));
    const { name } = definition;
    const hash = definitionHash(definition);
    const kept = trusted(definition, config);
    const isPrepared = prepared.hashes.has(hash);
    const forms = isPrepared ? null : formsOf(tool.slug, kept);
    if (forms !== null && "reason" in forms) {
      dropped.push(forms);
      continue;
    }
    const stored = { definition: kept, forms, hash, scopes: scopes.get(name) ?? [] };
    tools.set(name, stored);
    if (!isPrepared) batch.push(stored);
    if (batch.length === BATCH_SIZE) await prepared.store(batch.splice(0));
  }
  return { tools: [...tools.values()], dropped: toStorableDropped(dropped) };
}

/** Limits the reported tools to a useful number, in a form that can be stored and shown. */
function toStorableDropped(dropped: readonly DroppedTool[]): DroppedTool[] {
  const shown = dropped.slice(0, MAX_DROPPED).map(({ name, is_part: isPart = false, reason }) => ({
    name: toStorableText(name.slice(0, MAX_NAME_CHARACTERS)),
    ...(isPart ? { is_part: true } : {}),
    reason: toStorableText(reason.slice(0, MAX_REASON_CHARACTERS)),
  }));
  const others = dropped.length - shown.length;
  if (others === 0) return shown;
  return [...shown, { name: "(others)", reason: `${others} more problems with definitions` }];
}

function formsOf(
  server: string,
  definition: ToolDefinition,
): CachedForms | DroppedTool {
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
    return toCachedForms({ name: functionName, description, inputSchema });
  } catch (error) {
    if (error instanceof SwarmError) return { name, reason: error.message };
    // Converting a schema has no effects, so that whatever it fails with concerns this tool alone.
    return { name, reason: "its schema is unusable" };
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
