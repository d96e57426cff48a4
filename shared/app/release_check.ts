import { compareVersions } from "../../client/compare_versions.ts";
import { SCHEMA_VERSION } from "../platform/db/schema_version.ts";
import type { Sql } from "../platform/db/sql_client.ts";
import { toSwarmError } from "../platform/db/to_swarm_error.ts";
import { errorField } from "../platform/db/error_field.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import type { Logger } from "../platform/log/logger.ts";

/** SQLSTATEs of a function or schema that does not exist. */
const ABSENT = ["42883", "3F000"];

/**
 * Creates the check that the database has at least the release that this code was written for, once
 * per isolate. A newer database is logged only: during an upgrade, the functions of both releases
 * run, and each release keeps what the one before it calls.
 *
 * The check throws SCHEMA_OUTDATED, and DATABASE_UNAVAILABLE; then it is repeated.
 */
export function createReleaseCheck(sql: Sql, log: Logger): () => Promise<void> {
  let checked: Promise<void> | null = null;

  return () => {
    checked ??= check().catch((error) => {
      checked = null;
      throw error;
    });
    return checked;
  };

  async function check(): Promise<void> {
    const found = await readVersion(sql);
    if (found !== null && compareVersions(found, SCHEMA_VERSION) > 0) {
      log("warn", "function.outdated", { database: found, function: SCHEMA_VERSION });
      return;
    }
    if (found === SCHEMA_VERSION) return;
    throw new SwarmError(
      "SCHEMA_OUTDATED",
      `Cannot answer the request: the database has ${
        found === null ? "no release of SupaSwarm" : `release ${found}`
      }, and the function needs ${SCHEMA_VERSION}`,
    );
  }
}

async function readVersion(sql: Sql): Promise<string | null> {
  try {
    const [row] = await sql<{ version: string }[]>`select private.schema_version() as version`;
    return row?.version ?? null;
  } catch (error) {
    if (ABSENT.includes(errorField(error, "code") ?? "")) return null;
    throw toSwarmError(error, "read the release of the database");
  }
}
