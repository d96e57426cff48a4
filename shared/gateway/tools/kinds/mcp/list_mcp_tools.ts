import { z } from "../../../../vendor/zod.js";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import {
  type ToolDefinition,
  toolDefinitionSchema,
  withoutHidden,
} from "../../../tool_contracts/tool_definition.ts";
import type { DroppedTool, ToolListing } from "../../../tool_contracts/tool_server.ts";
import type { Client } from "../../../../vendor/mcp_client.js";
import { headerAnnotationProblem } from "./header_annotations.ts";

/** A server that exceeds these limits is broken or hostile. */
const MAX_PAGES = 50;
const MAX_TOOLS = 1_000;
const MAX_LIST_CHARACTERS = 2 * 1024 * 1024;

const pageSchema = z.looseObject({
  tools: z.array(toolDefinitionSchema),
  nextCursor: z.string().optional(),
});
/** The protocol allows only objects as arguments. */
const mcpToolSchema = toolDefinitionSchema.refine(
  ({ inputSchema }) => inputSchema.type === "object",
  { message: 'must have the type "object"', path: ["inputSchema"] },
);
const pageMessageSchema = z.looseObject({ result: z.looseObject({ tools: z.array(z.unknown()) }) });

/**
 * Reads all pages of a server's tools. An invalid definition drops only that tool.
 *
 * @throws SwarmError `TOOL_UNAVAILABLE` if the list exceeds the limits.
 */
export async function listMcpTools(
  client: Client,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<ToolListing> {
  const tools = new Map<string, ToolDefinition>();
  const received = dropBrokenTools(client);
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = definedOnly({ cursor });
    const answer = await client.request({ method: "tools/list", params }, pageSchema, options);
    for (const tool of answer.tools) tools.set(tool.name, tool);
    if (received.count > MAX_TOOLS || received.characters > MAX_LIST_CHARACTERS) throw tooLong();
    cursor = answer.nextCursor;
    if (cursor === undefined) return { tools: [...tools.values()], dropped: received.dropped };
  }
  throw tooLong();
}

/** The tools received so far, including invalid definitions. */
interface ReceivedTools {
  count: number;
  characters: number;
  readonly dropped: DroppedTool[];
}

/**
 * Removes and collects invalid definitions, because the SDK would reject a whole page for one of
 * them.
 */
function dropBrokenTools({ transport }: Client): ReceivedTools {
  const received: ReceivedTools = { count: 0, characters: 0, dropped: [] };
  const deliver = transport?.onmessage;
  if (transport === undefined || deliver === undefined) return received;
  transport.onmessage = (message, extra) => {
    const page = pageMessageSchema.safeParse(message);
    if (!page.success || !("result" in message)) return deliver(message, extra);
    const { result } = page.data;
    received.count += result.tools.length;
    received.characters += JSON.stringify(result.tools).length;
    const tools = result.tools.slice(0, MAX_TOOLS).filter((tool) => {
      const reason = brokenTool(tool);
      if (reason !== null) received.dropped.push(reason);
      return reason === null;
    });
    deliver({ ...message, result: { ...result, tools } }, extra);
  };
  return received;
}

function brokenTool(tool: unknown): DroppedTool | null {
  const parsed = mcpToolSchema.safeParse(tool);
  if (parsed.success) {
    const { name, inputSchema } = parsed.data;
    const problem = headerAnnotationProblem(inputSchema);
    return problem === null ? null : { name, reason: problem };
  }
  const named = z.looseObject({ name: z.string() }).safeParse(tool);
  const [issue] = parsed.error.issues;
  return {
    name: named.success ? withoutHidden(named.data.name) : "(without a name)",
    reason: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`,
  };
}

function tooLong(): SwarmError {
  return new SwarmError(
    "TOOL_UNAVAILABLE",
    `Cannot list the tools: the server gives more than ${MAX_PAGES} pages, ${MAX_TOOLS} tools or ` +
      `${MAX_LIST_CHARACTERS} characters`,
    { hint: "Register a server with fewer tools." },
  );
}
