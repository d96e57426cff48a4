import { canonicalJson } from "../../../platform/values/canonical_json.ts";
import type { JsonObject, JsonValue } from "../../../platform/values/json.ts";
import type { ToolDefinition } from "../../tool_contracts/tool_definition.ts";
import type { DefinitionDifference } from "../../tool_contracts/server_tools.ts";
import { sha256Hex } from "../../../platform/values/sha256_hex.ts";

/**
 * The members that an approval covers: everything that a model reads or a caller relies on.
 * Covering only the schema would let a server change the tool's description.
 */
const PINNED_MEMBERS = [
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
] as const;

/** The hash of a definition: SHA-256 of its pinned members as canonical JSON, in hex. */
export function definitionHash(definition: ToolDefinition): string {
  const pinned = PINNED_MEMBERS.flatMap((member) => {
    const value = memberOf(definition, member);
    return value === null ? [] : [[member, value] as const];
  });
  const text = canonicalJson(Object.fromEntries(pinned));
  return sha256Hex(text);
}

/** The pinned members in which two definitions differ; all of them if nothing was approved. */
export function definitionDifference(
  approved: ToolDefinition | null,
  current: ToolDefinition,
): DefinitionDifference[] {
  return PINNED_MEMBERS.flatMap((member) => {
    const before = approved === null ? null : memberOf(approved, member);
    const now = memberOf(current, member);
    const isSame = canonicalJson(before) === canonicalJson(now);
    return isSame ? [] : [{ member, approved: before, current: now }];
  });
}

function memberOf(definition: ToolDefinition, member: typeof PINNED_MEMBERS[number]): JsonValue {
  return (definition as unknown as JsonObject)[member] ?? null;
}
