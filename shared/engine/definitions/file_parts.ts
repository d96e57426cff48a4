import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { agentDefinition, withoutAbsent } from "./agent_definition.ts";
import type { RegistryDefinition } from "./definition.ts";
import type { AgentFile } from "./file_schemas.ts";

/** A definition in the words of its file. */
export interface FileParts {
  /** The YAML of the file, its front matter, or its entry in the file of an `EntryKind`. */
  readonly fields: JsonObject;
  /** What stands below the front matter: a prompt or instructions. Null if there is none. */
  readonly text: string | null;
}

/** What the importer of skills derives from the files beside `SKILL.md`. */
const DERIVED_METADATA = ["scripts", "not_imported"];
const DEFAULT_SKILL_VERSION = "1.0.0";

/** The parts of the file that defines this; {@linkcode definitionOfParts} is the reverse. */
export function partsOfDefinition({ kind, slug, definition }: RegistryDefinition): FileParts {
  switch (kind) {
    case "agent":
      return { fields: agentFields(slug, definition), text: String(definition.prompt ?? "") };
    case "skill":
      return { fields: skillFields(definition), text: String(definition.instructions ?? "") };
    case "tool": {
      const { display_name: displayName, ...rest } = withEnabled(definition);
      return { fields: named(slug, displayName, rest), text: null };
    }
    case "schedule":
    case "webhook":
    case "alert":
    case "trigger":
      return { fields: withEnabled(definition), text: null };
  }
}

/**
 * The definition of a file.
 *
 * @param parts The parts of a file that matches the schema of its kind.
 * @param before What is defined now. Files beside `SKILL.md` are kept from it.
 */
export function definitionOfParts(
  { kind, slug }: Pick<RegistryDefinition, "kind" | "slug">,
  { fields, text }: FileParts,
  before: JsonObject = {},
): JsonObject {
  switch (kind) {
    case "agent":
      return agentDefinition({ ...fields, name: slug } as AgentFile, text ?? "");
    case "skill": {
      const { name, description, version, ...extra } = fields;
      const metadata = isJsonObject(before.metadata) ? before.metadata : {};
      const derived = DERIVED_METADATA.map((key) => [key, metadata[key]]);
      return withoutAbsent({
        ...before,
        name,
        description,
        version: version ?? DEFAULT_SKILL_VERSION,
        instructions: text ?? "",
        metadata: { ...extra, ...Object.fromEntries(derived) },
      });
    }
    case "tool": {
      const { display_name: displayName = slug, ...rest } = fields;
      return withIsActive({ ...rest, display_name: displayName });
    }
    case "schedule":
    case "webhook":
    case "alert":
    case "trigger":
      return withIsActive(fields);
  }
}

function agentFields(slug: string, definition: JsonObject): JsonObject {
  const {
    display_name: displayName,
    prompt: _prompt,
    max_turns: maxTurns,
    tools,
    fallbacks,
    guardrails,
    approvals,
    ...rest
  } = withEnabled(definition);
  return {
    name: slug,
    ...named(slug, displayName, {
      ...rest,
      maxTurns,
      tools: listOf(tools)?.flatMap(grantTexts),
      fallbacks: listOf(fallbacks)?.map(({ provider, model }) => joined(provider, model)),
      guardrails: guardrailLists(listOf(guardrails)),
      approvals: listOf(approvals)?.map(({ tool, tool_name: name, ask, conditions }) =>
        withoutAbsent({ tool: approvedTool(tool, name), ask, when: conditions })
      ),
    }),
  };
}

function skillFields({ name, description, version, metadata }: JsonObject): JsonObject {
  const extra = Object.entries(isJsonObject(metadata) ? metadata : {})
    .filter(([key]) => !DERIVED_METADATA.includes(key));
  const isDefault = version === DEFAULT_SKILL_VERSION;
  return withoutAbsent({
    name,
    description,
    version: isDefault ? undefined : version,
    ...Object.fromEntries(extra),
  });
}

/** The display name comes first, and is missing where it is the slug. */
function named(
  slug: string,
  displayName: JsonValue | undefined,
  rest: Readonly<Record<string, unknown>>,
): JsonObject {
  return withoutAbsent({
    display_name: displayName === slug ? undefined : displayName,
    ...rest,
  });
}

function grantTexts({ tool, allowed_tools: allowed }: JsonObject): string[] {
  return Array.isArray(allowed)
    ? allowed.map((name: JsonValue) => `${tool}/${name}`)
    : [String(tool)];
}

function guardrailLists(guardrails: readonly JsonObject[] | undefined) {
  if (guardrails === undefined) return undefined;
  const of = (wanted: string) => {
    const names = guardrails.filter(({ stage }) => stage === wanted).map(({ tool, tool_name }) =>
      joined(tool, tool_name)
    );
    return names.length === 0 ? undefined : names;
  };
  return withoutAbsent({ input: of("input"), output: of("output") });
}

function approvedTool(tool: JsonValue | undefined, name: JsonValue | undefined): string {
  if (tool === undefined) return String(name);
  return joined(tool, name === "*" ? undefined : name);
}

function joined(first: JsonValue | undefined, second: JsonValue | undefined): string {
  return second === undefined ? String(first) : `${first}/${second}`;
}

/** Files say `enabled` where rows say `is_active`. */
function withEnabled({ is_active: isActive, ...rest }: JsonObject): JsonObject {
  return isActive === undefined ? rest : { ...rest, enabled: isActive };
}

function withIsActive({ enabled, ...rest }: Readonly<Record<string, unknown>>): JsonObject {
  return withoutAbsent({ ...rest, is_active: enabled });
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] | undefined {
  return Array.isArray(value) ? value.filter(isJsonObject) : undefined;
}
