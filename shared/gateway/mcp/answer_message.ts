import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { lazily } from "../../platform/values/lazily.ts";
import { remedyOfScopes } from "../tool_contracts/tool_scopes.ts";
import { buildServer } from "./build_server.ts";
import type { Exchange } from "./exchange.ts";
import type { DescribedServer, DirectoryEntry } from "./tool_directory.ts";

/** Imported on first use, in parallel with the database query: rejected callers never need it. */
const loadSdk = lazily(() => import("../../vendor/mcp_server.js"));

/**
 * Interval of comments in an idle stream. Proxies notice a disconnected client only when they write
 * to it, and its call must not continue for longer than this.
 */
const SIGN_OF_LIFE_MS = 2_000;

/** Methods whose answer depends on the capabilities of the endpoint's server. */
const DESCRIBED =
  /^(initialize$|server\/discover$|tools\/|resources\/|prompts\/|completion\/|logging\/)/;

/**
 * Answers a Model Context Protocol message: version 2026-07-28, or the earlier handshake, both
 * without a session.
 *
 * @throws SwarmError for errors that must be HTTP responses: `TOOL_NOT_FOUND` for an unknown
 * server, `INSUFFICIENT_SCOPE` with `details.scopes`, `DATABASE_UNAVAILABLE`.
 */
export async function answerMessage(exchange: Exchange): Promise<Response> {
  const { message, log } = exchange;
  const loading = loadSdk();
  const called = await findCalled(exchange);
  const isDescribed = message.methods.some((method) => DESCRIBED.test(method));
  const described = isDescribed ? await describe(exchange, called) : null;
  const sdk = await loading;
  const handler = sdk.createMcpHandler(
    () => buildServer(sdk, exchange, { described, called }),
    {
      keepAliveMs: SIGN_OF_LIFE_MS,
      onerror: (error) => log("info", "mcp.message_refused", { reason: error.name }),
    },
  );
  return await handler.fetch(message.request, definedOnly({ parsedBody: message.body }));
}

/**
 * Finds the called tool before anything is dispatched; null if the message does not call exactly
 * one tool.
 */
async function findCalled({ message, directory }: Exchange): Promise<DirectoryEntry | null> {
  const [name, ...others] = message.toolNames;
  if (name === undefined) return null;
  if (others.length === 0) {
    const called = await directory.prepare(name);
    assertScopes(name, called);
    return called;
  }
  for (const name of message.toolNames) assertScopes(name, await directory.find(name));
  return null;
}

async function describe(
  { server, directory }: Exchange,
  called: DirectoryEntry | null,
): Promise<DescribedServer | null> {
  const isKnown = server !== null && called?.kind === "tool" && called.prepared !== undefined;
  return isKnown ? called.prepared : await directory.describe();
}

function assertScopes(name: string, found: DirectoryEntry): void {
  if (found.kind !== "tool" || found.tool.missingScopes.length === 0) return;
  const { scopes, missingScopes } = found.tool;
  throw new SwarmError(
    "INSUFFICIENT_SCOPE",
    `Cannot call '${name}': the scope ${missingScopes.join(" and ")} is missing`,
    {
      hint: remedyOfScopes(missingScopes),
      details: { scopes: [...scopes], missing_scopes: [...missingScopes] },
    },
  );
}
