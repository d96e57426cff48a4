import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { definitionDifference, definitionHash } from "./listing/definition_pin.ts";
import type { ToolServerPorts } from "./kinds/open_tool_server.ts";
import { findByName, isOlderVersion } from "../tool_contracts/tool_versions.ts";
import type { ToolDefinition } from "../tool_contracts/tool_definition.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";

/** The current definition of a called tool. */
export interface FoundTool {
  readonly definition: ToolDefinition;
  /** Its own scopes; only internal tools have them. */
  readonly scopes: readonly string[];
  /** The cache has a different definition of the newest version, or none. */
  readonly isCacheOutdated: boolean;
  /** The name refers to an older version, whose definition only the code has. */
  readonly isOlder: boolean;
}

/**
 * The definition that applies to a call: for an internal tool the one in the code, otherwise the
 * cached one.
 *
 * @throws SwarmError `TOOL_NOT_FOUND` with the most similar tool names.
 */
export async function findTool(
  record: CallRecord,
  toolName: string,
  { loadInternalServer }: Pick<ToolServerPorts, "loadInternalServer">,
): Promise<FoundTool> {
  const { cached } = record;
  const internal = await loadInternalServer(record.tool);
  if (internal === null) {
    if (cached === null) throw unknownTool(record.tool.slug, toolName, record.tool_names);
    return { definition: cached.schema, scopes: [], isCacheOutdated: false, isOlder: false };
  }
  const definitions = internal.tools.map(({ definition }) => definition);
  const definition = findByName(toolName, definitions);
  if (definition === undefined) {
    throw unknownTool(record.tool.slug, toolName, definitions.map(({ name }) => name));
  }
  const scopes = internal.tools.find((tool) => tool.definition === definition)?.scopes ?? [];
  const isOlder = isOlderVersion(definition, definitions);
  const isCacheOutdated = isOlder ? cached === null : cached?.hash !== definitionHash(definition);
  return { definition, scopes, isCacheOutdated, isOlder };
}

/**
 * Refuses a tool with an unapproved definition.
 *
 * @throws SwarmError `TOOL_DEFINITION_CHANGED` with what differs.
 */
export function assertDefinitionApproved({ cached, connection, tool }: CallRecord): void {
  if (cached === null || cached.state === "approved") return;
  const { name, state, schema, held } = cached;
  const isNew = state === "pending";
  // An unapproved tool always has a held definition; only the type does not express it.
  const current = held ?? schema;
  const difference = definitionDifference(isNew ? null : schema, current);
  const hash = definitionHash(current);
  const args = [
    `p_connection_id => '${connection.id}'`,
    `p_tool_name => '${name.replaceAll("'", "''")}'`,
    `p_definition_hash => '${hash}'`,
  ].join(", ");
  throw new SwarmError(
    "TOOL_DEFINITION_CHANGED",
    isNew
      ? `Cannot call '${name}': it is new on '${tool.slug}' and not approved`
      : `Cannot call '${name}': '${tool.slug}' has changed its definition, and the change is not approved`,
    {
      hint: `Ask an operator to review it and run select public.approve_tool_definition(${args}).`,
      details: {
        connection_id: connection.id,
        definition_hash: hash,
        changed: difference.map(({ member }) => member),
      },
    },
  );
}

function unknownTool(slug: string, toolName: string, names: readonly string[]): SwarmError {
  const nearest = nearestNames(toolName, names);
  const known = nearest.length > 0 ? nearest : names.slice(0, 20);
  return new SwarmError("TOOL_NOT_FOUND", `The tool server '${slug}' has no tool '${toolName}'`, {
    hint: known.length === 0 ? "It has no tools." : `It has: ${known.join(", ")}.`,
  });
}
