import type { Sql } from "../../platform/db/sql_client.ts";
import { indexTables, type TableIndex } from "../sql/linking/rank_tables.ts";
import { toLinkable } from "../sql/linking/to_linkable.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { knowSchema } from "./schema_cache.ts";
import type { SqlSettings } from "./sql_settings.ts";

interface KnownTables {
  readonly catalogVersion: string;
  readonly index: TableIndex;
}

/** The last ranking data of this isolate, per database. */
const lastCounted = new WeakMap<Sql, KnownTables>();

/**
 * The tables that callers see, prepared for ranking. They are rebuilt after the catalogs change.
 */
export async function knowTables(
  context: ToolContext,
  settings: SqlSettings,
): Promise<KnownTables> {
  const { schema, catalogVersion } = await knowSchema(context, settings);
  const known = lastCounted.get(context.sql);
  if (known?.catalogVersion === catalogVersion) return known;
  const counted = { catalogVersion, index: indexTables(toLinkable(schema)) };
  lastCounted.set(context.sql, counted);
  return counted;
}
