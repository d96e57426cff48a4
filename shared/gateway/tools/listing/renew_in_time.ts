import { withDeadline } from "../../../platform/values/with_deadline.ts";
import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import { type Renewal, renewListing } from "./renew_listing.ts";
import type { RegisteredServer } from "../../tool_contracts/tool_records.ts";

/** How long a caller waits for a new list if there is an older one. */
export const KNOWN_WAIT_MS = 1_500;

/**
 * Lists a server's tools like {@linkcode renewListing}, but waits at most `waitMs`: returns `busy`
 * while the listing continues in the background.
 *
 * @throws the reason of an aborted signal. A listing that has begun continues for others.
 */
export async function renewInTime(
  registered: RegisteredServer,
  userId: string | null,
  ports: ToolServerPorts,
  options: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<Renewal> {
  const { waitMs, signal } = options;
  let isAwaited = true;
  const renewal = renewListing(registered, userId, ports, options);
  ports.keepAlive(renewal.then(() => {}, (error) => {
    if (isAwaited || error === signal.reason) return;
    ports.log("warn", "tool.listing_broke_off", { error: String(error) });
  }));
  try {
    const timed = await withDeadline(waitMs, signal, () => renewal);
    return timed.kind === "done" ? timed.value : { kind: "busy" };
  } finally {
    isAwaited = false;
  }
}
