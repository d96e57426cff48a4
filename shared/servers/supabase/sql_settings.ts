import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import type { SqlPolicy } from "../sql/sql_policy.ts";

const settingsSchema = z.object({
  version: z.int(),
  exposed_schemas: z.array(z.string()),
  read_functions: z.array(z.string()),
  write_functions: z.array(z.string()),
  confirmable_definitions: z.array(z.string()),
  definitions_need_approval: z.boolean(),
  unfiltered_writes_need_approval: z.boolean(),
  max_rows: z.int(),
  max_bytes: z.int(),
  max_export_rows: z.int(),
  max_export_bytes: z.int(),
  max_affected_rows: z.int(),
  statement_timeout_ms: z.int(),
  /** Version of the current SQL context; null if none was published. */
  context_version: z.int().nullable(),
});

/** The row of `private.sql_policy`, and the version of the SQL context. */
export type SqlSettings = z.infer<typeof settingsSchema>;

/** Reads the current SQL policy. */
export async function readSqlSettings(sql: Sql): Promise<SqlSettings> {
  const [row] = await sql`select private.read_sql_policy() as policy`;
  return settingsSchema.parse(row?.policy);
}

/** The part of the settings that determines a statement's class. */
export function policyOf(settings: SqlSettings): SqlPolicy {
  return {
    exposedSchemas: settings.exposed_schemas,
    readFunctions: settings.read_functions,
    writeFunctions: settings.write_functions,
  };
}
