import type { Sql } from "../../shared/db/sql_client.ts";
import type { Logger } from "../../shared/log/logger.ts";
import { type ClientSetting, toClientJson } from "./client_setting.ts";
import { isStatementError } from "./statement_error.ts";

/** What `realtime.messages` policies tell apart. */
export type ChannelExtension = "broadcast" | "presence";

/** One answer for each extension. */
export type ChannelRights = Readonly<Record<ChannelExtension, boolean>>;

/** Where rights are asked for, and where a policy that raises is reported. */
export interface RightsServices {
  readonly sql: Sql;
  readonly log: Logger;
}

/**
 * Asks the policies on `realtime.messages` what the client may read on the private channel.
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
 * Asks the policies whether the client may send on the private channel. A policy that raises
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

/** A policy's own error is reported; trouble with the database passes on. */
function reportPolicy(error: unknown, log: Logger): void {
  if (!isStatementError(error)) throw error;
  log("warn", "realtime.policy_failed", { code: error.code, message: error.message });
}
