import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import { type Renewal, renewListing } from "./renew_listing.ts";
import type { RegisteredServer } from "../../tool_contracts/tool_records.ts";

/** How long a caller waits for a new list if there is an older one. */
export const KNOWN_WAIT_MS = 1_500;

/**
 * Lists a server's tools like {@linkcode renewListing}, but waits at most `waitMs`: returns `busy`
 * while the listing continues in the background.
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
