import {
  type DatabaseSchema,
  isTable,
  primaryKeyOf,
  qualifiedName,
  type SchemaColumn,
  type SchemaRelation,
} from "../schema/database_schema.ts";
import type { LinkableColumn, LinkableKey, LinkableTable } from "./linkable_table.ts";
import { sqlName } from "../schema/quote_name.ts";
import { type DescribedTypes, typeText, usedTypes } from "../schema/used_types.ts";
import { definedOnly } from "../../../platform/values/defined_only.ts";
import { wordsOf } from "./name_words.ts";
import { sharedPrefixes, withoutPrefix } from "./shared_prefix.ts";

/** Maximum characters of a type's line in a prompt, which holds some 300 labels. */
const MAX_TYPE_CHARACTERS = 4_000;
const MAX_COMMENT_CHARACTERS = 160;

/** Converts the tables that the caller can read to the form for choosing tables. */
export function toLinkable(
  { relations, ...described }: Pick<DatabaseSchema, "relations" | "enums" | "types">,
): LinkableTable[] {
  const readable = relations.filter(({ columns }) =>
    columns.some(({ is_readable: isReadable }) => isReadable)
  );
  const indexOf = new Map(readable.map((relation, index) => [qualifiedName(relation), index]));
  return withInferredKeys(readable.map((relation) => ({
    schema: relation.schema,
    name: relation.name,
    comment: relation.comment,
    columns: relation.columns.filter(({ is_readable: isReadable }) => isReadable)
      .map((column) => ({ ...pick(column), ...definedOnly({ origin: originOf(column) }) })),
    primaryKey: primaryKeyOf(relation),
    foreignKeys: foreignKeysOf(relation, indexOf),
    ...definedOnly({ form: formOf(relation) }),
    types: typeLines(relation, described),
  })));
}

function pick({ name, type, comment }: SchemaColumn): LinkableColumn {
  return { name, type, comment };
}

function originOf({ identity, generation }: SchemaColumn): string | undefined {
  if (identity !== null) return `identity ${identity}`;
  return generation === null ? undefined : "generated";
}

function formOf(relation: SchemaRelation): string | undefined {
  const { kind, privileges, partition_key: key, inherits } = relation;
  const isReadOnly = !privileges.some((privilege) => privilege !== "select");
  const parts = [
    ...(isTable(relation) ? [] : [kind.replace("_", " "), ...(isReadOnly ? ["read only"] : [])]),
    ...(key === null ? [] : [`partitioned by ${key}`]),
    ...(inherits.length === 0 ? [] : [`inherits ${inherits.map(sqlName).join(", ")}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** `enum shop.mood ('calm', 'angry') -- comment` for each type that the columns use. */
function typeLines({ columns }: SchemaRelation, described: DescribedTypes): string[] {
  const readable = columns.filter(({ is_readable: isReadable }) => isReadable);
  const { enums, types } = usedTypes([{ columns: readable }], described);
  return [...enums, ...types].map((type) => {
    const kind = "kind" in type ? type.kind : "enum";
    const comment = type.comment?.replace(/\s+/g, " ") ?? "";
    const line = `${kind} ${type.written} ${typeText(type)}${
      comment === "" ? "" : ` -- ${comment.slice(0, MAX_COMMENT_CHARACTERS)}`
    }`.replace(/[\r\n]+/g, " ");
    return line.length <= MAX_TYPE_CHARACTERS ? line : `${line.slice(0, MAX_TYPE_CHARACTERS)} …`;
  });
}

function foreignKeysOf(
  { constraints }: SchemaRelation,
  indexOf: ReadonlyMap<string, number>,
): LinkableKey[] {
  return constraints.flatMap(({ kind, columns, target_schema, target_table, target_columns }) => {
    if (kind !== "foreign_key" || target_schema === null || target_table === null) return [];
    const target = indexOf.get(qualifiedName({ schema: target_schema, name: target_table }));
    if (target === undefined) return [];
    return [{ columns, target, targetColumns: target_columns ?? [], isInferred: false }];
  });
}

/** Generic names that many tables use for their own columns. */
const OWN_NAMES: ReadonlySet<string> = new Set(["id", "uuid", "name", "created_at", "updated_at"]);

/** Shorter suffixes of names match by chance. */
const SHORTEST_FOLDED_KEY = 5;

/** A table with a single-column key that other tables can reference. */
interface KeyedTable {
  readonly index: number;
  readonly schema: string;
  readonly column: LinkableColumn;
  /** Suffix of a column that references it: `user id`, `cust id`. */
  readonly endings: readonly (readonly string[])[];
}

/**
 * Adds foreign keys that no constraint declares, inferred from names: a column with the name of
 * another table's key (`did`), or with the names of that table and its key (`user_id`, `sbTxCustId`
 * for `sbCustomer.sbCustId`, and `sbtxcustid` where the case of names is lost). Inferred keys only
 * determine which tables are shown together.
 */
export function withInferredKeys(tables: readonly LinkableTable[]): LinkableTable[] {
  const keyed = tables.flatMap((table, index): KeyedTable[] => {
    const column = keyColumnOf(table);
    return column === null
      ? []
      : [{ index, schema: table.schema, column, endings: endingsOf(table, column) }];
  });
  const prefixes = sharedPrefixes(tables);
  const bySchema = Map.groupBy(keyed, ({ schema }) => schema);
  const byName = Map.groupBy(keyed, ({ column }) => column.name.toLowerCase());
  const byEnding = Map.groupBy(
    keyed.flatMap((key) => key.endings.map((ending) => ({ ending: ending.join(" "), key }))),
    ({ ending }) => ending,
  );
  return tables.map((table, index) => {
    const declared = new Set(table.foreignKeys.flatMap(({ columns }) => columns));
    const inferred = table.columns.flatMap((column): LinkableKey[] => {
      if (declared.has(column.name)) return [];
      const lowerName = column.name.toLowerCase();
      const sameName = OWN_NAMES.has(lowerName) ? [] : byName.get(lowerName) ?? [];
      const ending = wordsOf(column.name).slice(-2).join(" ");
      const prefix = prefixes.get(table.schema) ?? "";
      const folded = (bySchema.get(table.schema) ?? []).filter((key) =>
        endsLikeKey(lowerName, withoutPrefix(key.column.name.toLowerCase(), prefix))
      );
      const candidates = [
        ...sameName,
        ...(byEnding.get(ending) ?? []).map(({ key }) => key),
        ...folded,
      ].filter((key) => isOther(key, index, column));
      const target = nearestTo(table.schema, index, candidates);
      if (target === undefined) return [];
      return [{
        columns: [column.name],
        target: target.index,
        targetColumns: [target.column.name],
        isInferred: true,
      }];
    });
    return inferred.length === 0
      ? table
      : { ...table, foreignKeys: [...table.foreignKeys, ...inferred] };
  });
}

function isOther(key: KeyedTable, index: number, { type }: LinkableColumn): boolean {
  return key.index !== index && key.column.type === type;
}

function endsLikeKey(lowerName: string, key: string): boolean {
  return key.length >= SHORTEST_FOLDED_KEY && isKeyName(key) && lowerName.endsWith(key);
}

/**
 * Prefers a key in the table's own schema, then the nearest table, because related tables are often
 * created together.
 */
function nearestTo(
  schema: string,
  index: number,
  keys: readonly KeyedTable[],
): KeyedTable | undefined {
  const own = keys.filter((key) => key.schema === schema);
  return (own.length > 0 ? own : keys).toSorted((a, b) =>
    Math.abs(a.index - index) - Math.abs(b.index - index)
  )[0];
}

/**
 * The primary key. If there is none, and the table has columns besides keys, it is the key named
 * after the table (`pid` of `publication`), otherwise the first column if it is named like a key.
 */
function keyColumnOf({ name, columns, primaryKey }: LinkableTable): LinkableColumn | null {
  if (primaryKey.length > 1) return null;
  const [primary] = primaryKey;
  if (primary !== undefined) return columns.find(({ name }) => name === primary) ?? null;
  if (columns.every(({ name }) => isKeyName(name))) return null;
  const keys = columns.filter((column) => isKeyName(column.name));
  const own = keys.find((key) => name.toLowerCase().startsWith(withoutKeyEnding(key.name)));
  const [first] = columns;
  return own ?? (first !== undefined && keys.includes(first) ? first : null);
}

function withoutKeyEnding(name: string): string {
  return name.replace(/_?(id|Id|ID|uuid|code|key)$/, "").toLowerCase();
}

function isKeyName(name: string): boolean {
  return /(id|Id|ID|uuid|code|key)$/.test(name);
}

function endingsOf(table: LinkableTable, { name }: LinkableColumn): string[][] {
  const own = wordsOf(name);
  const entity = wordsOf(table.name).at(-1);
  const ofTable = entity === undefined ? [] : [[entity, "id"]];
  return own.length >= 2 ? [own.slice(-2), ...ofTable] : ofTable;
}
