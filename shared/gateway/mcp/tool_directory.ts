import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { lazily } from "../../platform/values/lazily.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import type { CallableTool, PreparedCall, ToolGateway } from "../tool_contracts/tool_gateway.ts";
import type {
  ListedTool,
  ServerFeatures,
  ServerSummary,
  ServerTools,
} from "../tool_contracts/server_tools.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import { findByName, offeredNameOf } from "../tool_contracts/tool_versions.ts";
import { CONCURRENT_LISTINGS, FIRST_WAIT_MS } from "./listing_limits.ts";
import { nameNearestServers } from "./name_nearest_servers.ts";

const SEPARATOR = "__";
/** Maximum length of a slug, and of a tool name with its version. */
const MAX_SLUG_CHARACTERS = 63;
const MAX_TOOL_NAME_CHARACTERS = 300;

/** A tool with its name at this endpoint. */
export interface WireTool {
  readonly wireName: string;
  readonly server: ServerSummary;
  readonly tool: ListedTool;
}

/** The target of a wire name. */
export type DirectoryEntry =
  | {
    readonly kind: "tool";
    readonly server: string;
    readonly tool: CallableTool;
    /** Only from {@linkcode ToolDirectory.prepare}, for the single call. */
    readonly prepared?: PreparedCall;
  }
  /**
   * The server's tools cannot be listed now, this tool's definition is not approved, or a policy
   * forbids it; the call reports the reason.
   */
  | { readonly kind: "unlisted"; readonly server: string; readonly toolName: string }
  | { readonly kind: "unknown"; readonly nearest: readonly string[] };

/** Facts about an endpoint's server. */
export interface DescribedServer {
  readonly server: PreparedCall["server"];
  /** Null if the server is not available now. */
  readonly features: ServerFeatures | null;
}

/** The tools of one endpoint for one caller, during one request. */
export interface ToolDirectory {
  /**
   * Tools that the caller may call, sorted by wire name. The endpoint of all servers omits
   * unavailable servers; an endpoint of one server throws the reason why it is unavailable.
   */
  list(): Promise<readonly WireTool[]>;
  find(wireName: string): Promise<DirectoryEntry>;
  /** Like `find()` for one call, which is looked up immediately if it needs no list. */
  prepare(wireName: string): Promise<DirectoryEntry>;
  /** The endpoint's server; null for the endpoint of all servers. */
  describe(): Promise<DescribedServer | null>;
}

interface ToolDirectoryOptions {
  readonly gateway: ToolGateway;
  readonly caller: ToolCaller;
  /** Null for all servers. */
  readonly server: string | null;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Creates a directory. Its methods throw the gateway's errors if the database is unavailable, the
 * endpoint's server does not exist, or the caller may use none of its tools.
 */
export function createToolDirectory(options: ToolDirectoryOptions): ToolDirectory {
  const { gateway, caller, server, signal, log } = options;
  const listed = new Map<string, Promise<ServerTools | null>>();
  const faults = new Map<string, SwarmError>();
  const callersServers = lazily(() => gateway.listServers(caller));

  const toolsOf = (slug: string): Promise<ServerTools | null> => {
    const known = listed.get(slug) ?? ask(slug);
    listed.set(slug, known);
    return known;
  };
  return {
    list: async () => server === null ? await listAll() : await listOne(server),
    find,
    prepare,
    describe: async () => server === null ? null : await describe(server),
  };

  async function find(wireName: string): Promise<DirectoryEntry> {
    return server === null ? await findInAll(wireName) : await findIn(wireName);
  }

  async function prepare(wireName: string): Promise<DirectoryEntry> {
    const meant = server === null ? await likelyReadings(wireName) : readingsOf(server, wireName);
    const [only, ...others] = meant;
    if (only === undefined || others.length > 0) return await find(wireName);
    const { slug, toolName } = only;
    const prepared = await gateway.prepare({ server: slug, toolName, caller });
    return prepared === null
      ? await find(wireName)
      : { kind: "tool", server: slug, tool: prepared.tool, prepared };
  }

  async function ask(slug: string): Promise<ServerTools | null> {
    try {
      const options = server === null ? { firstWaitMs: FIRST_WAIT_MS } : {};
      return await gateway.listServerTools(slug, caller, options, signal);
    } catch (error) {
      if (!(error instanceof SwarmError)) throw error;
      if (!isServersFault(error)) {
        throw await nameNearestServers(error, { server: slug, gateway, caller });
      }
      // One unavailable server does not affect the others.
      log("warn", "mcp.server_left_out", { server: slug, code: error.code });
      faults.set(slug, error);
      return null;
    }
  }

  async function listOne(slug: string): Promise<WireTool[]> {
    const answer = await toolsOf(slug);
    const fault = faults.get(slug);
    if (fault !== undefined) throw fault;
    return wireTools(answer, "");
  }

  async function describe(slug: string): Promise<DescribedServer | null> {
    const answer = await toolsOf(slug);
    if (answer !== null) return { server: answer.server, features: answer.features };
    const summaries = await callersServers();
    const summary = summaries.find((candidate) => candidate.slug === slug);
    return summary === undefined ? null : { server: summary, features: null };
  }

  async function toolsIfAny(slug: string): Promise<ServerTools | null | "no server"> {
    try {
      return await toolsOf(slug);
    } catch (error) {
      if (error instanceof SwarmError && error.code === "TOOL_NOT_FOUND") return "no server";
      throw error;
    }
  }

  async function listAll(): Promise<WireTool[]> {
    const servers = await callersServers();
    const tools: WireTool[] = [];
    for (let start = 0; start < servers.length; start += CONCURRENT_LISTINGS) {
      const batch = servers.slice(start, start + CONCURRENT_LISTINGS);
      const answers = await Promise.all(batch.map(({ slug }) => toolsOf(slug)));
      tools.push(...answers.flatMap((answer) => wireTools(answer, prefixOf(answer))));
    }
    return sortByName(withoutShadows(tools));
  }

  async function findIn(toolName: string): Promise<DirectoryEntry> {
    const slug = server ?? "";
    const answer = await toolsOf(slug);
    if (readingsOf(slug, toolName).length === 0) {
      return unknown(toolName, wireTools(answer, ""));
    }
    if (answer === null || isHeldBack(toolName, answer)) {
      return { kind: "unlisted", server: slug, toolName };
    }
    const tool = findByName(toolName, answer.tools);
    if (tool !== undefined) return { kind: "tool", server: slug, tool };
    return unknown(toolName, wireTools(answer, ""));
  }

  /**
   * The readings that name one of the caller's servers; if there is none, the one with the shortest
   * slug, for the error.
   */
  async function likelyReadings(wireName: string): Promise<readonly Reading[]> {
    const all = readings(wireName);
    if (all.length <= 1) return all;
    const slugs = new Set((await callersServers()).map(({ slug }) => slug));
    const own = all.filter(({ slug }) => slugs.has(slug));
    return own.length > 0 ? own : all.slice(-1);
  }

  /**
   * A slug may contain the separator, so every possible server is checked. A tool of the server
   * with the longest slug is never resolved at another server, which could impersonate it.
   */
  async function findInAll(wireName: string): Promise<DirectoryEntry> {
    for (const { slug, toolName } of await likelyReadings(wireName)) {
      const answer = await toolsIfAny(slug);
      if (answer === "no server") continue;
      if (answer === null || isHeldBack(toolName, answer)) {
        return { kind: "unlisted", server: slug, toolName };
      }
      const tool = findByName(toolName, answer.tools);
      if (tool !== undefined) return { kind: "tool", server: slug, tool };
    }
    return unknown(wireName, await listAll());
  }
}

/**
 * If several tools have the same wire name, the server with the longest slug wins, as in a call.
 */
function withoutShadows(tools: readonly WireTool[]): WireTool[] {
  const byName = new Map<string, WireTool>();
  for (const tool of tools) {
    const known = byName.get(tool.wireName);
    if (known === undefined || known.server.slug.length < tool.server.slug.length) {
      byName.set(tool.wireName, tool);
    }
  }
  return [...byName.values()];
}

function isHeldBack(toolName: string, { quarantined, forbidden }: ServerTools): boolean {
  return quarantined.some(({ name }) => name === toolName) || forbidden.includes(toolName);
}

/** A possible reading of a wire name: a server and its tool. */
interface Reading {
  readonly slug: string;
  readonly toolName: string;
}

/** The possible readings of a wire name, the longest slug first; none for an impossible name. */
function readings(wireName: string): Reading[] {
  const found: Reading[] = [];
  let end = wireName.lastIndexOf(SEPARATOR, MAX_SLUG_CHARACTERS);
  while (end > 0) {
    const toolName = wireName.slice(end + SEPARATOR.length);
    found.push(...readingsOf(wireName.slice(0, end), toolName));
    end = wireName.lastIndexOf(SEPARATOR, end - 1);
  }
  return found;
}

function readingsOf(slug: string, toolName: string): Reading[] {
  return toolName.length > MAX_TOOL_NAME_CHARACTERS ? [] : [{ slug, toolName }];
}

/** Whether the server caused the error, not the caller or the database. */
function isServersFault({ code }: SwarmError): boolean {
  switch (code) {
    case "DATABASE_UNAVAILABLE":
    case "INSUFFICIENT_SCOPE":
    case "TOOL_NOT_FOUND":
    case "INTERNAL":
      return false;
    default:
      return true;
  }
}

function prefixOf(answer: ServerTools | null): string {
  return answer === null ? "" : answer.server.slug + SEPARATOR;
}

function wireTools(answer: ServerTools | null, prefix: string): WireTool[] {
  if (answer === null) return [];
  const tools = answer.tools
    .filter(({ missingScopes }) => missingScopes.length === 0)
    .map((tool) => ({ wireName: prefix + offeredNameOf(tool), server: answer.server, tool }));
  return sortByName(tools);
}

function sortByName(tools: readonly WireTool[]): WireTool[] {
  // By code unit: the order must not depend on the machine's locale.
  return [...tools].sort((a, b) => a.wireName < b.wireName ? -1 : 1);
}

function unknown(name: string, tools: readonly WireTool[]): DirectoryEntry {
  const names = tools.map(({ wireName }) => wireName);
  const nearest = nearestNames(name.slice(0, MAX_TOOL_NAME_CHARACTERS), names);
  return { kind: "unknown", nearest: nearest.length > 0 ? nearest : names.slice(0, 20) };
}
