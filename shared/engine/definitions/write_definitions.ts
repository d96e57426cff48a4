import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { isJsonObject } from "../../platform/values/json.ts";
import type { DefinitionFile, RegistryDefinition, WriteYaml } from "./definition.ts";

/**
 * Writes definitions as the files that define them, the reverse of {@linkcode readDefinitions}:
 * reading the result gives the same definitions.
 */
export function writeDefinitions(
  definitions: readonly RegistryDefinition[],
  writeYaml: WriteYaml,
): DefinitionFile[] {
  const files = new Map<string, string>();
  for (const { kind, slug, definition } of definitions) {
    if (kind === "agent") files.set(`${slug}.md`, agentFile(slug, definition, writeYaml));
    if (kind === "tool") files.set(`tools/${slug}.yaml`, toolFile(slug, definition, writeYaml));
    if (kind !== "skill") continue;
    for (const [path, text] of skillFiles(definition, writeYaml)) {
      files.set(`skills/${slug}/${path}`, text);
    }
  }
  for (const kind of ["schedule", "webhook"] as const) {
    const entries = definitions.filter((one) => one.kind === kind);
    if (entries.length === 0) continue;
    const document = entries.map(({ slug, definition }) =>
      [slug, withEnabled(definition)] as const
    );
    files.set(`${kind}s.yaml`, writeYaml(Object.fromEntries(document)));
  }
  const encoder = new TextEncoder();
  return [...files].map(([path, text]) => ({ path, bytes: encoder.encode(text) }));
}

function agentFile(slug: string, definition: JsonObject, writeYaml: WriteYaml): string {
  const {
    display_name: displayName,
    prompt,
    max_turns: maxTurns,
    tools,
    fallbacks,
    guardrails,
    approvals,
    ...rest
  } = withEnabled(definition);
  const front = present({
    name: slug,
    display_name: displayName === slug ? undefined : displayName,
    ...rest,
    maxTurns,
    tools: listOf(tools)?.flatMap(grantTexts),
    fallbacks: listOf(fallbacks)?.map(({ provider, model }) => joined(provider, model)),
    guardrails: guardrailLists(listOf(guardrails)),
    approvals: listOf(approvals)?.map(({ tool, tool_name: name, ask, conditions }) =>
      present({ tool: approvedTool(tool, name), ask, when: conditions })
    ),
  });
  return `---\n${writeYaml(front)}---\n\n${String(prompt)}\n`;
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
  return present({ input: of("input"), output: of("output") });
}

function approvedTool(tool: JsonValue | undefined, name: JsonValue | undefined): string {
  if (tool === undefined) return String(name);
  return joined(tool, name === "*" ? undefined : name);
}

function joined(first: JsonValue | undefined, second: JsonValue | undefined): string {
  return second === undefined ? String(first) : `${first}/${second}`;
}

function toolFile(slug: string, definition: JsonObject, writeYaml: WriteYaml): string {
  const { display_name: displayName, ...rest } = withEnabled(definition);
  return writeYaml(present({
    display_name: displayName === slug ? undefined : displayName,
    ...rest,
  }));
}

function skillFiles(definition: JsonObject, writeYaml: WriteYaml): [string, string][] {
  const { name, description, version, instructions, resources, metadata } = definition;
  // What the importer derives from the files themselves.
  const { scripts: _, not_imported: __, ...extra } = isJsonObject(metadata) ? metadata : {};
  const isDefault = version === "1.0.0";
  const front = present({ name, description, version: isDefault ? undefined : version, ...extra });
  return [
    ["SKILL.md", `---\n${writeYaml(front)}---\n\n${String(instructions ?? "")}\n`],
    ...Object.entries(isJsonObject(resources) ? resources : {})
      .map(([path, text]) => [path, String(text)] as [string, string]),
  ];
}

/** Files say `enabled` where rows say `is_active`. */
function withEnabled({ is_active: isActive, ...rest }: JsonObject): JsonObject {
  return isActive === undefined ? rest : { ...rest, enabled: isActive };
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] | undefined {
  return Array.isArray(value) ? value.filter(isJsonObject) : undefined;
}

function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
