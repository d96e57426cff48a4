import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import { type Renewal, renewListing } from "./renew_listing.ts";
import type { RegisteredServer } from "../../tool_contracts/tool_records.ts";

/** How long anybody waits for a list that there is an older one of. */
export const KNOWN_WAIT_MS = 1_500;

/**
 * Asks a server for its tools as {@linkcode renewListing} does, and waits for it no longer than
 * `waitMs`: it is `busy` while the asking goes on without us.
 */
export async function renewInTime(
  registered: RegisteredServer,
  userId: string | null,
  ports: ToolServerPorts,
  options: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<Renewal> {
  const late = Promise.withResolvers<Renewal>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    late.resolve({ kind: "busy" });
  }, options.waitMs);
  const renewal = renewListing(registered, userId, ports, options);
  const settled = renewal.then(() => {}, (error) => {
    if (isOver) ports.log("warn", "tool.listing_broke_off", { error: String(error) });
  });
  ports.keepAlive(settled);
  try {
    return await Promise.race([renewal, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
