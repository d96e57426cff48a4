import { SwarmError } from "../../errors/swarm_error.ts";
import { buildServer } from "./build_server.ts";
import type { Exchange } from "./exchange.ts";
import type { FoundTool } from "./tool_directory.ts";

/** Imported when first needed: a refused request never needs it. */
const loadSdk = () => import("@modelcontextprotocol/server");

/**
 * How often an idle stream carries a comment. Proxies notice that a client has gone only when they
 * write to it, and what it called must not go on for longer than this.
 */
const SIGN_OF_LIFE_MS = 2_000;

/** Methods whose answer depends on what the endpoint's server can do. */
const DESCRIBED =
  /^(initialize$|server\/discover$|tools\/|resources\/|prompts\/|completion\/|logging\/)/;

/**
 * Answers a message by the Model Context Protocol: of 2026-07-28, or of the earlier handshake,
 * both without a session.
 *
 * @throws SwarmError what has to be told in HTTP: `TOOL_NOT_FOUND` for an unknown server,
 * `INSUFFICIENT_SCOPE` with `details.scopes`, `DATABASE_UNAVAILABLE`.
 */
export async function answerMessage(exchange: Exchange): Promise<Response> {
  const { message, directory, log } = exchange;
  const called = await findCalled(exchange);
  const isDescribed = message.methods.some((method) => DESCRIBED.test(method));
  const described = isDescribed ? await directory.describe() : null;
  const sdk = await loadSdk();
  const handler = sdk.createMcpHandler(
    () => buildServer(sdk, exchange, { described, called }),
    {
      keepAliveMs: SIGN_OF_LIFE_MS,
      onerror: (error) => log("info", "mcp.message_refused", { reason: error.name }),
    },
  );
  return await handler.fetch(
    message.request,
    message.body === undefined ? {} : { parsedBody: message.body },
  );
}

/** Finds what the message calls, before anything is dispatched. */
async function findCalled({ message, directory }: Exchange): Promise<FoundTool | null> {
  let called: FoundTool | null = null;
  for (const name of message.toolNames) {
    called = await directory.find(name);
    if (called.kind === "tool") assertScopes(name, called.tool);
  }
  return message.toolNames.length === 1 ? called : null;
}

function assertScopes(
  name: string,
  { scopes, missingScopes }: Extract<FoundTool, { kind: "tool" }>["tool"],
): void {
  if (missingScopes.length === 0) return;
  throw new SwarmError(
    "INSUFFICIENT_SCOPE",
    `Cannot call '${name}': the scope ${missingScopes.join(" and ")} is missing`,
    {
      hint: "Ask an operator for a row in mcp_grants.",
      details: { scopes: [...scopes], missing_scopes: [...missingScopes] },
    },
  );
}
