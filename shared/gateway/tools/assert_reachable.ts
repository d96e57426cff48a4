import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { ToolServerPorts } from "./kinds/open_tool_server.ts";
import type { RegisteredServer } from "../tool_contracts/tool_records.ts";

/** Fails immediately if the circuit breaker is open; if it is half open, only one call passes. */
export async function assertReachable(
  record: RegisteredServer,
  { store }: Pick<ToolServerPorts, "store">,
): Promise<void> {
  const { breaker, connection } = record;
  assertNotOpen(record);
  if (breaker === "closed" || await store.beginProbe(connection.id)) return;
  throw leftAlone(record, "Another call is testing it; try again in a moment.");
}

/** Fails immediately if the circuit breaker is open. */
export function assertNotOpen(record: RegisteredServer): void {
  const { breaker, retry_at: retryAt } = record;
  if (breaker !== "open") return;
  throw leftAlone(
    record,
    retryAt === null
      ? "Try again later."
      : `It is tried again at ${new Date(retryAt).toISOString()}; use another tool meanwhile.`,
  );
}

function leftAlone({ tool, retry_at: retryAt }: RegisteredServer, hint: string): SwarmError {
  const waitMs = retryAt === null ? 0 : Math.max(0, Date.parse(retryAt) - Date.now());
  return new SwarmError(
    "TOOL_UNAVAILABLE",
    `The tool server '${tool.slug}' is temporarily disabled after repeated failures`,
    {
      hint,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
      details: { reason: "breaker_open", retry_at: retryAt },
    },
  );
}
