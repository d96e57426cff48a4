import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import type { TransactionSql } from "../../vendor/postgres.js";
import { asOwner } from "../as_owner.ts";

interface UserQuery {
  readonly access: "read" | "write";
  /** What is attempted, such as "add the message". */
  readonly action: string;
  /** Whether the service may also query, without a user. @default false */
  readonly servesService?: boolean;
}

/**
 * Queries the database with the caller's own rights.
 *
 * @throws SwarmError `CALLER_REQUIRED` without a user; errors of the database.
 */
export async function queryAsUser<T>(
  context: ToolContext,
  { access, action, servesService = false }: UserQuery,
  work: (sql: TransactionSql) => Promise<T>,
): Promise<T> {
  try {
    return servesService
      ? await asOwner(context, access, work)
      : await context.runAsCaller(work, { isReadOnly: access === "read" });
  } catch (error) {
    context.signal.throwIfAborted();
    throw toSwarmError(error, action);
  }
}
