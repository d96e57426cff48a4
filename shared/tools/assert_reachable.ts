import { SwarmError } from "../errors/swarm_error.ts";
import type { ToolServerPorts } from "./kinds/open_tool_server.ts";
import type { RegisteredServer } from "../tool_contracts/tool_records.ts";

/** Fails at once what an open breaker stands before; of a half open one, all but one call. */
export async function assertReachable(
  record: RegisteredServer,
  { store }: Pick<ToolServerPorts, "store">,
): Promise<void> {
  const { breaker, connection } = record;
  assertNotOpen(record);
  if (breaker === "closed" || await store.beginProbe(connection.id)) return;
  throw leftAlone(record, "It is being tried right now; try again in a moment.");
}

/** Fails at once what an open breaker stands before. */
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
    `The tool server '${tool.slug}' has not answered several times in a row and is left alone`,
    {
      hint,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
      details: { reason: "breaker_open", retry_at: retryAt },
    },
  );
}
