import { toSwarmError } from "../../db/to_swarm_error.ts";
import { definedOnly } from "../../defined_only.ts";
import { SwarmError } from "../../errors/swarm_error.ts";
import { sleep } from "../../sleep.ts";
import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import { refreshTools } from "./refresh_tools.ts";
import type { DroppedTool } from "../../tool_contracts/tool_server.ts";
import type { RegisteredServer } from "../../tool_contracts/tool_records.ts";

/** What came of asking a server for its tools. */
export type Renewal =
  | { readonly kind: "renewed"; readonly dropped: readonly DroppedTool[] }
  /** Somebody else is asking, and has not ended in time. */
  | { readonly kind: "busy" }
  | { readonly kind: "failed"; readonly error: SwarmError };

const SLOW_FAILURE_MS = 1_000;
const POLL_MS = 100;
/** Who is silent for four of them is taken for dead. */
const CONTINUE_MS = 1_000;

/**
 * Asks a server for its tools, unless somebody else is doing so, who is waited for instead.
 *
 * @throws SwarmError `DATABASE_UNAVAILABLE`; the reason of an aborted signal.
 */
export async function renewListing(
  registered: RegisteredServer,
  userId: string | null,
  ports: ToolServerPorts,
  options: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<Renewal> {
  const { connection: { id }, tool: { slug } } = registered;
  const giveUpAtMs = performance.now() + options.waitMs;
  let isFirst = true;
  while (!await ports.store.beginListing(id)) {
    isFirst = false;
    if (performance.now() + POLL_MS > giveUpAtMs) return { kind: "busy" };
    await sleep(POLL_MS, options.signal);
  }
  if (!isFirst) {
    // Whoever was asking has ended; what came of it stands in the cache or with the connection.
    const settled = await settledMeanwhile(registered, userId, ports);
    if (settled !== null) return settled;
  }
  const beganAtMs = performance.now();
  const holding = holdListing(id, ports);
  try {
    return {
      kind: "renewed",
      dropped: await refreshTools(registered, userId, ports, options.signal),
    };
  } catch (error) {
    if (options.signal.aborted) await giveBackUnused(registered, ports);
    options.signal.throwIfAborted();
    const known = faultOf(toSwarmError(error, `list the tools of '${slug}'`), slug);
    if (known.code === "DATABASE_UNAVAILABLE") {
      await giveBackUnused(registered, ports);
      throw known;
    }
    const isSlow = performance.now() - beganAtMs > SLOW_FAILURE_MS;
    await giveBack(registered, known, isSlow, ports);
    const { code, details = null } = known;
    ports.log("warn", "tool.listing_failed", { server: slug, code, details });
    return { kind: "failed", error: known };
  } finally {
    clearInterval(holding);
  }
}

/** Says again and again that the server is being asked, until the interval is cleared. */
function holdListing(connectionId: string, { store, log }: ToolServerPorts) {
  return setInterval(() => {
    store.continueListing(connectionId).catch((error) => {
      log("warn", "tool.listing_not_held", { error: String(error) });
    });
  }, CONTINUE_MS);
}

/** A list that cannot be kept is the fault of the server that gave it, and of no other one. */
function faultOf(error: SwarmError, slug: string): SwarmError {
  if (error.code !== "INTERNAL") return error;
  return new SwarmError(
    "TOOL_UNAVAILABLE",
    `Cannot list the tools of '${slug}': what it answered cannot be kept`,
    { cause: error, ...definedOnly({ details: error.details }) },
  );
}

async function settledMeanwhile(
  { tool, connection, tools_listed_at: before }: RegisteredServer,
  userId: string | null,
  { store }: ToolServerPorts,
): Promise<Renewal | null> {
  const now = await store.serverListing(tool.id, userId, 0);
  if (now.tools_listed_at === before && now.listing_error === null) return null;
  await store.endListing(connection.id);
  return now.listing_error === null
    ? { kind: "renewed", dropped: now.dropped }
    : { kind: "failed", error: storedError(now.listing_error) };
}

/** Lets the next one ask. Nothing here may hide why the listing failed. */
async function giveBack(
  { connection }: RegisteredServer,
  { code, message, isRetryable }: SwarmError,
  isSlow: boolean,
  { store, log }: ToolServerPorts,
): Promise<void> {
  try {
    // A server that was waited for in vain is left alone for a while. Somebody may correct anything
    // else at any moment, and a quick failure costs the next caller little.
    await store.failListing(connection.id, { code, message }, isSlow && isRetryable);
  } catch (error) {
    log("warn", "tool.listing_not_given_back", { error: String(error) });
  }
}

/** The asker has gone away, or its database, which says nothing of the server to those who wait. */
async function giveBackUnused(
  { connection }: RegisteredServer,
  { store, log }: ToolServerPorts,
): Promise<void> {
  try {
    await store.endListing(connection.id);
  } catch (error) {
    log("warn", "tool.listing_not_given_back", { error: String(error) });
  }
}

/** The error that an earlier listing ended with. */
export function storedError(
  { code, message }: NonNullable<RegisteredServer["listing_error"]>,
): SwarmError {
  return new SwarmError(code, message);
}

/** The error where somebody is asking the server and has not ended yet. */
export function notListedYet(slug: string): SwarmError {
  return new SwarmError("TOOL_UNAVAILABLE", `'${slug}' has not listed its tools yet`);
}
