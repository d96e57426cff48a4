import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import { type ClientSetting, toClientJson } from "./client_setting.ts";
import { isStatementError } from "./statement_error.ts";

/** The values of `extension` in policies on `realtime.messages`. */
export type ChannelExtension = "broadcast" | "presence";

/** Whether each extension is allowed. */
export type ChannelRights = Readonly<Record<ChannelExtension, boolean>>;

/** Dependencies of the rights checks. */
export interface RightsServices {
  readonly sql: Sql;
  readonly log: Logger;
}

/**
 * Returns what the client may read on the private channel by the policies on `realtime.messages`.
 * A policy that raises, or a role that does not exist, grants nothing.
 */
export async function readRights(
  { sql, log }: RightsServices,
  client: ClientSetting,
): Promise<ChannelRights> {
  try {
    const [row] = await sql<{ readable: string[] }[]>`
      select realtime.readable_extensions(${toClientJson(client)}::text::jsonb) as readable`;
    const isReadable = (extension: string) => row?.readable.includes(extension) ?? false;
    return { broadcast: isReadable("broadcast"), presence: isReadable("presence") };
  } catch (error) {
    reportPolicy(error, log);
    return { broadcast: false, presence: false };
  }
}

/**
 * Whether the policies allow the client to send on the private channel. A policy that raises
 * grants nothing.
 */
export async function mayWrite(
  { sql, log }: RightsServices,
  extension: ChannelExtension,
  client: ClientSetting,
): Promise<boolean> {
  try {
    const [row] = await sql<{ allowed: boolean }[]>`
      select realtime.may_write(${toClientJson(client)}::text::jsonb, ${extension}) as allowed`;
    return row?.allowed ?? false;
  } catch (error) {
    reportPolicy(error, log);
    return false;
  }
}

/** Logs an error of a policy. Throws errors of the database connection. */
function reportPolicy(error: unknown, log: Logger): void {
  if (!isStatementError(error)) throw error;
  log("warn", "realtime.policy_failed", { code: error.code, message: error.message });
}
