import { toSwarmError } from "../../../platform/db/to_swarm_error.ts";
import { definedOnly } from "../../../platform/values/defined_only.ts";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { sleep } from "../../../platform/values/sleep.ts";
import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import { refreshTools } from "./refresh_tools.ts";
import type { DroppedTool } from "../../tool_contracts/tool_server.ts";
import type { RegisteredServer } from "../../tool_contracts/tool_records.ts";

/** The result of listing a server's tools. */
export type Renewal =
  | { readonly kind: "renewed"; readonly dropped: readonly DroppedTool[] }
  /** Another caller is listing and has not finished in time. */
  | { readonly kind: "busy" }
  | { readonly kind: "failed"; readonly error: SwarmError };

const SLOW_FAILURE_MS = 1_000;
const POLL_MS = 100;
/** A holder without a renewal for four intervals counts as dead. */
const CONTINUE_MS = 1_000;

/**
 * Lists a server's tools, or waits for another caller that is already listing them.
 *
 * @param options.signal Ends only the wait: a listing that has begun serves other callers too.
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
    // The other caller has finished; its result is in the cache or on the connection.
    const settled = await settledMeanwhile(registered, userId, ports);
    if (settled !== null) return settled;
  }
  const beganAtMs = performance.now();
  const holding = holdListing(id, ports);
  try {
    return {
      kind: "renewed",
      dropped: await ports.listings(
        // Once begun, the list is completed for others.
        () => refreshTools(registered, userId, ports),
        options.signal,
      ),
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

/** Renews the claim on the listing until the interval is cleared. */
function holdListing(connectionId: string, { store, log }: ToolServerPorts) {
  return setInterval(() => {
    store.continueListing(connectionId).catch((error) => {
      log("warn", "tool.listing_not_held", { error: String(error) });
    });
  }, CONTINUE_MS);
}

/** A list that cannot be stored is the failure of the server that sent it. */
function faultOf(error: SwarmError, slug: string): SwarmError {
  if (error.code !== "INTERNAL") return error;
  return new SwarmError(
    "TOOL_UNAVAILABLE",
    `Cannot list the tools of '${slug}': its answer cannot be stored`,
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

/** Releases the claim for the next caller. An error here must not hide why the listing failed. */
async function giveBack(
  { connection }: RegisteredServer,
  { code, message, isRetryable }: SwarmError,
  isSlow: boolean,
  { store, log }: ToolServerPorts,
): Promise<void> {
  try {
    // A server that timed out is skipped for a while. Other failures may be fixed at any moment,
    // and a quick failure costs the next caller little.
    await store.failListing(connection.id, { code, message }, isSlow && isRetryable);
  } catch (error) {
    log("warn", "tool.listing_not_given_back", { error: String(error) });
  }
}

/** The requester or its database disconnected, which is not the server's failure. */
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

/** The error of an earlier listing. */
export function storedError(
  { code, message }: NonNullable<RegisteredServer["listing_error"]>,
): SwarmError {
  return new SwarmError(code, message);
}

/** Creates the error for a server whose first listing is still running. */
export function notListedYet(slug: string): SwarmError {
  return new SwarmError("TOOL_UNAVAILABLE", `'${slug}' has not listed its tools yet`);
}
