import agentSchema from "../../../../agents/schemas/agent.schema.json";
import alertsSchema from "../../../../agents/schemas/alerts.schema.json";
import schedulesSchema from "../../../../agents/schemas/schedules.schema.json";
import skillSchema from "../../../../agents/schemas/skill.schema.json";
import toolSchema from "../../../../agents/schemas/tool.schema.json";
import triggersSchema from "../../../../agents/schemas/triggers.schema.json";
import webhooksSchema from "../../../../agents/schemas/webhooks.schema.json";
import type { EditedKind } from "../../queries/definitions.ts";
import type { JsonSchema } from "../../../../client/mod.ts";

type SchemaObject = { readonly [keyword: string]: unknown };

/** How a kind of definition is shown. */
export interface KindLooks {
  readonly kind: EditedKind;
  readonly group: KindGroup;
  readonly one: string;
  readonly many: string;
  /** What stands below the fields; null if nothing does. */
  readonly text: string | null;
  /** The file of a definition; null for a setting. */
  readonly file: ((slug: string) => string) | null;
  /** How the name of a new one is written, where it is not free. */
  readonly nameHelp?: string;
  /** True if each exists with something else, so that none is created or removed. */
  readonly isFixed?: boolean;
}

/** The kinds that the page shows beside each other. */
export const KIND_GROUPS = [
  { value: "agents", text: "Agents and tools" },
  { value: "models", text: "Models" },
  { value: "access", text: "Access" },
  { value: "data", text: "Data" },
] as const;
/** See {@linkcode KIND_GROUPS}. */
export type KindGroup = (typeof KIND_GROUPS)[number]["value"];

export const KINDS: readonly KindLooks[] = [
  {
    kind: "agent",
    group: "agents",
    one: "Agent",
    many: "Agents",
    text: "System prompt",
    file: (slug) => `agents/${slug}.md`,
  },
  {
    kind: "tool",
    group: "agents",
    one: "Tool",
    many: "Tools",
    text: null,
    file: (slug) => `agents/tools/${slug}.yaml`,
  },
  {
    kind: "skill",
    group: "agents",
    one: "Skill",
    many: "Skills",
    text: "Instructions",
    file: (slug) => `agents/skills/${slug}/SKILL.md`,
  },
  {
    kind: "schedule",
    group: "agents",
    one: "Schedule",
    many: "Schedules",
    text: null,
    file: () => "agents/schedules.yaml",
  },
  {
    kind: "webhook",
    group: "agents",
    one: "Webhook",
    many: "Webhooks",
    text: null,
    file: () => "agents/webhooks.yaml",
  },
  {
    kind: "alert",
    group: "agents",
    one: "Alert",
    many: "Alerts",
    text: null,
    file: () => "agents/alerts.yaml",
  },
  {
    kind: "trigger",
    group: "agents",
    one: "Row trigger",
    many: "Row triggers",
    text: null,
    file: () => "agents/triggers.yaml",
  },
  {
    kind: "server",
    group: "agents",
    one: "Server",
    many: "Servers",
    text: null,
    file: null,
  },
  {
    kind: "limit",
    group: "agents",
    one: "Limit of calls",
    many: "Limits",
    text: null,
    file: null,
    nameHelp: "A server or tool, then if wanted one of its tools and an account: notes, " +
      "notes/search, notes for ada@example.com.",
  },
  {
    kind: "provider",
    group: "models",
    one: "Provider",
    many: "Providers",
    text: null,
    file: null,
  },
  {
    kind: "model",
    group: "models",
    one: "Model price",
    many: "Prices",
    text: null,
    file: null,
    nameHelp: "The provider and the model as the provider calls it, such as openai/gpt-5.4-mini.",
  },
  {
    kind: "policy",
    group: "models",
    one: "Policy",
    many: "Policies and caps",
    text: null,
    file: null,
    nameHelp: "A provider, then if wanted a model and an account: openai, openai/gpt-5.4-mini, " +
      "openai for ada@example.com.",
  },
  {
    kind: "quota",
    group: "access",
    one: "Quota",
    many: "Quotas",
    text: null,
    file: null,
    nameHelp: "everyone, or the email address of an account. A quota of an account overrides " +
      "that of everyone.",
  },
  {
    kind: "audience",
    group: "access",
    one: "Audience",
    many: "Audiences",
    text: null,
    file: null,
    isFixed: true,
  },
  {
    kind: "documents",
    group: "data",
    one: "Document project",
    many: "Document projects",
    text: null,
    file: null,
  },
  {
    kind: "retention",
    group: "data",
    one: "Retention",
    many: "Retention",
    text: null,
    file: null,
    isFixed: true,
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
export function fieldsSchema(
  kind: EditedKind,
  names: KnownNames,
  settings: ReadonlyMap<string, JsonSchema>,
): JsonSchema {
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
    case "trigger":
      return withAgents(triggersSchema.additionalProperties, names);
    default:
      return settings.get(kind) ?? {};
  }
}

function withAgents(
  { properties, ...rest }: SchemaObject & { readonly properties: { readonly agent: SchemaObject } },
  { agents }: KnownNames,
): JsonSchema {
  const agent = withExamples(properties.agent, agents);
  return { ...rest, properties: { ...properties, agent } };
}

/**
 * The fields of an agent. The name is the slug, which is not a field of the form. Lists are shown as
 * lists only.
 */
export function agentFields({ providers, tools, skills, agents }: KnownNames): JsonSchema {
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
): JsonSchema {
  return { description, ...itemsFrom(anyOf.find((one) => "items" in one) ?? {}, examples) };
}

function itemsFrom(schema: SchemaObject, examples: readonly string[]): SchemaObject {
  return { ...schema, items: withExamples(schema.items as SchemaObject, examples) };
}

function withExamples(schema: SchemaObject, examples: readonly string[]): SchemaObject {
  return examples.length === 0 ? schema : { ...schema, examples };
}
