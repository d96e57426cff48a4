import { ownMember } from "../../../shared/platform/values/own_member.ts";

/** What an imported agent may use, and what was left out. */
export interface MappedTools {
  /** References such as `crm` or `crm/find`. */
  readonly tools: readonly string[];
  readonly providerTools: readonly string[];
  /** Whether it may hand work to other agents. */
  readonly mayHandOff: boolean;
  readonly leftOut: readonly string[];
}

/** Tools of coding agents that hand work to another agent, which every agent can do here. */
const HANDOFF_TOOLS = ["task", "agent"];
/** Tools of coding agents for what every agent has here: notes on its work, questions, skills. */
const SYSTEM_TOOLS = ["todowrite", "todoread", "askuserquestion", "skill"];
const WEB_SEARCH = "websearch";
/** Providers that search the web themselves. */
const SEARCHING_PROVIDERS = ["anthropic", "openai", "google"];

/** What decides about tools. */
export interface ToolMapping {
  readonly provider: string;
  /** Slugs of the project's tools. */
  readonly servers: ReadonlySet<string>;
  /** The user's own references, by the names that files say. */
  readonly own: Readonly<Record<string, string>>;
}

/** Maps the tools of a subagent file to those of the project. */
export function mapTools(
  names: readonly string[],
  denied: readonly string[],
  mapping: ToolMapping,
): MappedTools {
  const tools = new Set<string>();
  const providerTools = new Set<string>();
  const leftOut = new Set<string>();
  let mayHandOff = false;
  for (const name of names.filter((one) => !denied.map(baseName).includes(baseName(one)))) {
    const plain = baseName(name).toLowerCase();
    const tool = ownMember(mapping.own, name) ?? ownMember(mapping.own, baseName(name)) ??
      ownTool(name, mapping.servers);
    if (tool !== null && tool !== undefined) tools.add(tool);
    else if (HANDOFF_TOOLS.includes(plain)) mayHandOff = true;
    else if (plain === WEB_SEARCH && SEARCHING_PROVIDERS.includes(mapping.provider)) {
      providerTools.add("web_search");
    } else if (!SYSTEM_TOOLS.includes(plain)) leftOut.add(name);
  }
  return {
    tools: [...tools],
    providerTools: [...providerTools],
    mayHandOff,
    leftOut: [...leftOut],
  };
}

/** A tool of the project: its slug, `slug/tool`, or `mcp__slug__tool`. */
function ownTool(name: string, servers: ReadonlySet<string>): string | null {
  const [, server = "", tool = "*"] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ??
    /^([^/]+)(?:\/(.+))?$/.exec(name) ?? [];
  const slug = server.toLowerCase();
  if (!servers.has(slug)) return null;
  return tool === "*" ? slug : `${slug}/${tool}`;
}

/** The name of a tool without its rule, as in `Bash(git diff:*)`. */
function baseName(name: string): string {
  return name.replace(/\(.*$/, "").trim();
}

/**
 * The names in a list of tools: a YAML list, a text with commas outside of parentheses, or an object
 * whose members turn tools on and off.
 */
export function toolNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(toolNames);
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).filter(([, isOn]) => isOn !== false).map(([name]) => name);
  }
  if (value === null || value === undefined || typeof value === "boolean") return [];
  return String(value).replace(/^\[|\]$/g, "").split(/,(?![^(]*\))|\n/)
    .map((name) => name.replace(/^\s*-\s/, "").trim().replace(/^(["'])(.*)\1$/, "$2"))
    .filter((name) => name !== "");
}
