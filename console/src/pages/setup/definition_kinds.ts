import agentSchema from "../../../../agents/schemas/agent.schema.json";
import alertsSchema from "../../../../agents/schemas/alerts.schema.json";
import schedulesSchema from "../../../../agents/schemas/schedules.schema.json";
import skillSchema from "../../../../agents/schemas/skill.schema.json";
import toolSchema from "../../../../agents/schemas/tool.schema.json";
import webhooksSchema from "../../../../agents/schemas/webhooks.schema.json";
import type { DefinitionKind } from "../../../../shared/engine/definitions/definition.ts";
import type { Schema } from "../../queries/servers.ts";

type SchemaObject = { readonly [keyword: string]: unknown };

/** How a kind of definition is shown. */
export interface KindLooks {
  readonly kind: DefinitionKind;
  readonly one: string;
  readonly many: string;
  /** What stands below the fields; null if nothing does. */
  readonly text: string | null;
  /** The file of a definition. */
  readonly file: (slug: string) => string;
}

export const KINDS: readonly KindLooks[] = [
  {
    kind: "agent",
    one: "Agent",
    many: "Agents",
    text: "System prompt",
    file: (slug) => `agents/${slug}.md`,
  },
  {
    kind: "tool",
    one: "Tool",
    many: "Tools",
    text: null,
    file: (slug) => `agents/tools/${slug}.yaml`,
  },
  {
    kind: "skill",
    one: "Skill",
    many: "Skills",
    text: "Instructions",
    file: (slug) => `agents/skills/${slug}/SKILL.md`,
  },
  {
    kind: "schedule",
    one: "Schedule",
    many: "Schedules",
    text: null,
    file: () => "agents/schedules.yaml",
  },
  {
    kind: "webhook",
    one: "Webhook",
    many: "Webhooks",
    text: null,
    file: () => "agents/webhooks.yaml",
  },
  {
    kind: "alert",
    one: "Alert",
    many: "Alerts",
    text: null,
    file: () => "agents/alerts.yaml",
  },
];

/** Names that exist, which fields offer. */
export interface KnownNames {
  readonly providers: readonly string[];
  readonly tools: readonly string[];
  readonly skills: readonly string[];
  readonly agents: readonly string[];
}

/** The schema of the fields of a kind, for a form: names that exist are its examples. */
export function fieldsSchema(kind: DefinitionKind, names: KnownNames): Schema {
  switch (kind) {
    case "agent":
      return agentFields(names);
    case "tool":
      return toolSchema;
    case "skill":
      return skillSchema;
    case "schedule":
      return withAgents(schedulesSchema.additionalProperties, names);
    case "webhook":
      return webhooksSchema.additionalProperties;
    case "alert":
      return withAgents(alertsSchema.additionalProperties, names);
  }
}

function withAgents(
  { properties, ...rest }: SchemaObject & { readonly properties: { readonly agent: SchemaObject } },
  { agents }: KnownNames,
): Schema {
  const agent = withExamples(properties.agent, agents);
  return { ...rest, properties: { ...properties, agent } };
}

/** The name is the slug, which is not a field of the form. Lists are shown as lists only. */
function agentFields({ providers, tools, skills, agents }: KnownNames): Schema {
  const { name: _name, ...properties } = agentSchema.properties;
  return {
    type: "object",
    additionalProperties: false,
    required: agentSchema.required.filter((name) => name !== "name"),
    properties: {
      ...properties,
      provider: withExamples(properties.provider, providers),
      tools: listOf(properties.tools, tools),
      skills: listOf(properties.skills, skills),
      handoffs: {
        ...properties.handoffs,
        anyOf: properties.handoffs.anyOf.map((one) =>
          "items" in one ? itemsFrom(one, agents) : one
        ),
      },
      fallbacks: itemsFrom(properties.fallbacks, providers),
    },
  };
}

function listOf(
  { description, anyOf }: { description: string; anyOf: readonly SchemaObject[] },
  examples: readonly string[],
): Schema {
  return { description, ...itemsFrom(anyOf.find((one) => "items" in one) ?? {}, examples) };
}

function itemsFrom(schema: SchemaObject, examples: readonly string[]): SchemaObject {
  return { ...schema, items: withExamples(schema.items as SchemaObject, examples) };
}

function withExamples(schema: SchemaObject, examples: readonly string[]): SchemaObject {
  return examples.length === 0 ? schema : { ...schema, examples };
}
