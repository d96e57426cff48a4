import type { JsonValue } from "../../platform/values/json.ts";
import {
  type DatabaseSchema,
  type SchemaRelation,
  structureText,
} from "../sql/schema/database_schema.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import type { SqlSettings } from "./sql_settings.ts";
import { sha256Hex } from "../../platform/values/sha256_hex.ts";

/** A model's analysis of a schema. */
export interface SchemaAnalysis {
  readonly text: string;
  readonly provider: string;
  readonly model: string;
}

/** The schema as callers see it, and when it was read. */
export interface KnownSchema {
  readonly schema: DatabaseSchema;
  /** Identifies the current state of all visible objects; changes with it. */
  readonly catalogVersion: string;
  /** SHA-256 of the structure, as hexadecimal digits. */
  readonly schemaHash: string;
  readonly analysis: SchemaAnalysis | null;
  readonly generatedAt: string;
  /** True if it was read for an earlier call and nothing has changed since. */
  readonly isCached: boolean;
}

interface CachedRow {
  readonly content: DatabaseSchema;
  readonly catalog_version: string;
  readonly schema_hash: string;
  readonly analysis: SchemaAnalysis | null;
  readonly generated_at: string;
}

/**
 * The structure of the exposed schemas as the caller sees it. A cached result is used until the
 * database's catalogs change; row estimates and counts are as old as `generatedAt`.
 *
 * @throws SwarmError `CALLER_REQUIRED` without a user.
 */
export async function knowSchema(
  context: ToolContext,
  settings: Pick<SqlSettings, "exposed_schemas">,
  { refresh = false }: { readonly refresh?: boolean } = {},
): Promise<KnownSchema> {
  const cached = refresh ? null : await findCached(context, settings);
  return cached ?? await introspect(context, settings, refresh);
}

/** Caches a model's analysis with its schema until the schema changes. */
export async function keepAnalysis(
  { sql }: ToolContext,
  { catalogVersion }: KnownSchema,
  analysis: SchemaAnalysis,
): Promise<void> {
  await sql`
    update private.schema_cache set analysis = ${sql.json({ ...analysis })}
    where catalog_version = ${catalogVersion}`;
}

async function findCached(
  { runAsCaller, sql }: ToolContext,
  { exposed_schemas }: Pick<SqlSettings, "exposed_schemas">,
): Promise<KnownSchema | null> {
  const [current] = await runAsCaller(async (asCaller) =>
    await asCaller<{ version: string }[]>`
      select private.catalog_version(${asCaller.json(exposed_schemas)}) as version`
  );
  if (current === undefined) return null;
  const [row] = await sql<CachedRow[]>`
    select content, catalog_version, schema_hash, analysis, to_json(generated_at) #>> '{}' as generated_at
    from private.schema_cache
    where catalog_version = ${current.version}`;
  return row === undefined ? null : toKnown(row, true);
}

async function introspect(
  { runAsCaller, sql }: ToolContext,
  { exposed_schemas }: Pick<SqlSettings, "exposed_schemas">,
  dropsAnalysis: boolean,
): Promise<KnownSchema> {
  // One statement, so that the version matches the description.
  const [read] = await runAsCaller(async (asCaller) =>
    await asCaller<{ version: string; content: DatabaseSchema }[]>`
      select private.catalog_version(schemas) as version, private.describe_schema(schemas) as content
      from (select ${asCaller.json(exposed_schemas)} as schemas) as asked`
  );
  if (read === undefined) {
    throw new Error("Cannot read the schema: its description returned no row");
  }
  const content = hideColumns(read.content);
  const hash = sha256Hex(structureText(content));
  const [row] = await sql<Omit<CachedRow, "content">[]>`
    insert into private.schema_cache as kept (catalog_version, schema_hash, content)
    values (${read.version}, ${hash}, ${sql.json(content as unknown as JsonValue)})
    on conflict (is_only_row) do update set
      catalog_version = excluded.catalog_version,
      schema_hash = excluded.schema_hash,
      content = excluded.content,
      analysis = case
        when kept.schema_hash = excluded.schema_hash and not ${dropsAnalysis} then kept.analysis
      end,
      generated_at = excluded.generated_at
    returning catalog_version, schema_hash, analysis, to_json(generated_at) #>> '{}' as generated_at`;
  if (row === undefined) throw new Error("Cannot cache the schema: the insert returned no row");
  return toKnown({ ...row, content }, false);
}

function toKnown(row: CachedRow, isCached: boolean): KnownSchema {
  return {
    schema: row.content,
    catalogVersion: row.catalog_version,
    schemaHash: row.schema_hash,
    analysis: row.analysis,
    generatedAt: row.generated_at,
    isCached,
  };
}

/**
 * The schema without constraints, indexes and policies that would reveal columns that the caller
 * may not use.
 */
function hideColumns(schema: DatabaseSchema): DatabaseSchema {
  return { ...schema, relations: schema.relations.map(hideInRelation) };
}

function hideInRelation(relation: SchemaRelation): SchemaRelation {
  const visible = new Set(relation.columns.map(({ name }) => name));
  const isVisible = ({ columns }: { readonly columns: readonly string[] }) =>
    columns.every((name) => visible.has(name));
  return {
    ...relation,
    constraints: relation.constraints.filter(isVisible),
    indexes: relation.indexes.filter(({ columns, definition }) =>
      columns.every((name) => visible.has(name) || isExpressionOf(name, definition))
    ),
    policies: relation.policies.map((policy) =>
      isVisible(policy) ? policy : { ...policy, using: null, check: null, columns: [] }
    ),
  };
}

/** A key that is an expression instead of a column name. */
function isExpressionOf(key: string, definition: string): boolean {
  return /[^\w$]/.test(key) && definition.includes(key);
}
