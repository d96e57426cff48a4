import { z } from "../../../../vendor/zod.js";
import { canonicalJson } from "../../../../platform/values/canonical_json.ts";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../../../platform/values/json.ts";
import { jsonValue } from "../../../../platform/values/json_schema.ts";
import type { ToolDefinition } from "../../../tool_contracts/tool_definition.ts";
import type { DroppedTool, ToolListing } from "../../../tool_contracts/tool_server.ts";
import type { Client } from "../../../../vendor/mcp_client.js";
import { toRpcError } from "./mcp_failure.ts";
import { kindOfPart } from "./reading/parts.ts";
import { readTool } from "./reading/read_tool.ts";
import { RPC_CODES } from "./reading/rpc_codes.ts";

/** A server that exceeds these limits is broken or hostile. */
const MAX_PAGES = 50;
const MAX_TOOLS = 1_000;
const MAX_LIST_CHARACTERS = 2 * 1024 * 1024;

const SAME_PAGE = "the server's cursor leads to the same page again";

const pageSchema = z.looseObject({ nextCursor: z.string().optional() });
const pageMessageSchema = z.looseObject({ result: z.looseObject({ tools: jsonValue }) });

/**
 * Reads all pages of a server's tools. What cannot be read of a definition is left out, and what
 * cannot be used drops only that tool.
 *
 * @throws SwarmError `TOOL_UNAVAILABLE` if the list exceeds the limits.
 */
export async function listMcpTools(
  client: Client,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<ToolListing> {
  const received = receiveTools(client);
  const cursors = new Set<string>();
  let cursor: string | undefined;
  // A page without new tools may be an empty one between others.
  let isSamePage = false;
  for (let page = 0; page < MAX_PAGES; page++) {
    const known = received.tools.size;
    const { nextCursor, end } = await readPage(client, cursor, options);
    if (end !== undefined) return toListing(received, end.problem);
    isSamePage = page > 0 && received.tools.size === known;
    if (received.count > MAX_TOOLS || received.characters > MAX_LIST_CHARACTERS) break;
    // An empty cursor is valid, but some languages write it for an absent one.
    const isAbsent = cursor === "" && nextCursor === "" && isSamePage;
    if (nextCursor === undefined || isAbsent) return toListing(received, undefined);
    cursor = nextCursor;
    if (cursors.has(cursor)) return toListing(received, SAME_PAGE);
    cursors.add(cursor);
  }
  if (isSamePage) return toListing(received, SAME_PAGE);
  throw tooLong();
}

interface Page {
  readonly nextCursor?: string | undefined;
  /** The page cannot be had; without a problem, because there may be none. */
  readonly end?: { readonly problem?: string };
}

async function readPage(
  client: Client,
  cursor: string | undefined,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<Page> {
  const params = definedOnly({ cursor });
  try {
    return await client.request({ method: "tools/list", params }, pageSchema, options);
  } catch (error) {
    const rpcError = toRpcError(error);
    if (cursor === undefined || rpcError === null) throw error;
    if (cursor === "") return { end: {} };
    if (rpcError.code !== RPC_CODES.invalidParams) throw error;
    return { end: { problem: `the server rejects its own cursor: ${rpcError.message}` } };
  }
}

function toListing({ tools, dropped }: ReceivedTools, problem: string | undefined): ToolListing {
  const others = problem === undefined ? [] : [{ name: "(further tools)", reason: problem }];
  return { tools: [...tools.values()], dropped: [...dropped, ...others] };
}

/** The tools received so far, including invalid definitions. */
interface ReceivedTools {
  count: number;
  characters: number;
  readonly tools: Map<string, ToolDefinition>;
  readonly dropped: DroppedTool[];
}

/**
 * Collects the tools of each page before the SDK sees them, because it would reject a whole page
 * for one that is invalid.
 */
function receiveTools({ transport }: Client): ReceivedTools {
  const received: ReceivedTools = { count: 0, characters: 0, tools: new Map(), dropped: [] };
  const deliver = transport?.onmessage;
  if (transport === undefined || deliver === undefined) return received;
  transport.onmessage = (message, extra) => {
    const page = pageMessageSchema.safeParse(message);
    if (!page.success || !("result" in message)) return deliver(message, extra);
    const { tools, ...result } = page.data.result;
    receivePage(received, tools);
    deliver({ ...message, result: { ...result, tools: [] } }, extra);
  };
  return received;
}

function receivePage(received: ReceivedTools, given: JsonValue): void {
  if (!Array.isArray(given)) {
    if (given === null) return;
    const reason = `tools is ${kindOfPart(given)} instead of a list`;
    received.dropped.push({ name: "(all tools)", reason });
    return;
  }
  received.count += given.length;
  received.characters += JSON.stringify(given).length;
  for (const item of given.slice(0, MAX_TOOLS)) {
    if (item !== null) receiveTool(received, item);
  }
}

function receiveTool({ tools, dropped }: ReceivedTools, given: JsonValue): void {
  const read = readTool(given);
  dropped.push(...read.dropped);
  if (read.tool === null) return;
  const tool = read.tool as JsonObject & ToolDefinition;
  const earlier = tools.get(tool.name);
  if (earlier === undefined) {
    tools.set(tool.name, tool);
  } else if (canonicalJson(earlier as unknown as JsonObject) !== canonicalJson(tool)) {
    const reason = "it is listed again with another definition; the first is used";
    dropped.push({ name: tool.name, is_part: true, reason });
  }
}

function tooLong(): SwarmError {
  return new SwarmError(
    "TOOL_UNAVAILABLE",
    `Cannot list the tools: the server gives more than ${MAX_PAGES} pages, ${MAX_TOOLS} tools or ` +
      `${MAX_LIST_CHARACTERS} characters`,
    { hint: "Register a server with fewer tools." },
  );
}
