import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { AgentFile } from "./file_schemas.ts";

/** Tools that a model's provider runs, which no server has. */
const PROVIDER_TOOLS: readonly string[] = ["web_search", "code_execution"];

/** The definition of an agent from its front matter and its prompt. */
export function agentDefinition(file: AgentFile, prompt: string): JsonObject {
  return withoutAbsent({
    display_name: file.display_name ?? file.name,
    description: file.description,
    prompt,
    provider: file.provider,
    model: file.model === "inherit" ? undefined : file.model,
    temperature: file.temperature,
    max_tokens: file.max_tokens,
    max_turns: file.maxTurns,
    max_continuations: file.max_continuations,
    reasoning_effort: file.reasoning_effort,
    provider_tools: file.provider_tools,
    input_schema: file.input_schema,
    output_schema: file.output_schema,
    must_complete: file.must_complete,
    budget: file.budget,
    audience: file.audience,
    is_active: file.enabled,
    handoffs: file.handoffs === "any" ? undefined : file.handoffs,
    fallbacks: file.fallbacks?.map(fallback),
    skills: file.skills,
    tools: file.tools === undefined ? undefined : toolGrants(file.tools),
    guardrails: file.guardrails === undefined ? undefined : guardrails(file.guardrails),
    approvals: file.approvals?.map(approval),
  });
}

function fallback(text: string): JsonObject {
  const slash = text.indexOf("/");
  return slash < 0
    ? { provider: text }
    : { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

/** `crm` is every tool of the server, `crm/find` or `mcp__crm__find` one of them. */
export function toolReference(
  text: string,
): { readonly server: string; readonly tool: string | null } {
  const qualified = /^mcp__(.+?)__(.+)$/.exec(text) ?? /^([^/]+)\/(.+)$/.exec(text);
  if (qualified === null) return { server: text.replace(/^mcp__/, ""), tool: null };
  const [, server = "", tool = ""] = qualified;
  return { server, tool: tool === "*" ? null : tool };
}

function toolGrants(tools: readonly string[]): JsonValue {
  const allowed = new Map<string, string[] | null>();
  for (const { server, tool } of tools.map(toolReference)) {
    const before = allowed.get(server);
    allowed.set(server, tool === null || before === null ? null : [...before ?? [], tool]);
  }
  return [...allowed].map(([tool, names]): JsonObject =>
    names === null ? { tool } : { tool, allowed_tools: [...new Set(names)] }
  );
}

function guardrails({ input = [], output = [] }: NonNullable<AgentFile["guardrails"]>): JsonValue {
  const entries = (stage: string, tools: readonly string[]) =>
    tools.map(toolReference).map(({ server, tool }) => ({
      stage,
      tool: server,
      tool_name: tool ?? server,
    }));
  return [...entries("input", input), ...entries("output", output)];
}

function approval({ tool, ask, when }: NonNullable<AgentFile["approvals"]>[number]): JsonObject {
  const { server, tool: name } = toolReference(tool);
  const target: JsonObject = PROVIDER_TOOLS.includes(tool)
    ? { tool_name: tool }
    : { tool: server, tool_name: name ?? "*" };
  return withoutAbsent({ ...target, ask, conditions: when });
}

/** An object without the members that are undefined. */
export function withoutAbsent(members: Readonly<Record<string, unknown>>): JsonObject {
  // The members were read from YAML, whose data is JSON.
  return JSON.parse(JSON.stringify(members));
}
