import type { NameHints } from "../../../platform/values/nearest_names.ts";
import type { SchemaColumn } from "../schema/database_schema.ts";

/** The column of each field, and the problems. */
export interface FieldMapping {
  /** Column names by field. */
  readonly columns: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/** Maximum number of names in one message. */
const MAX_NAMED = 20;

/**
 * Finds the column of each field: by name, otherwise ignoring case and separators, otherwise by a
 * synonym, which is a phrase in the column's comment. An ambiguous field is a problem.
 */
export function mapFields(
  fields: readonly string[],
  columns: readonly SchemaColumn[],
  hints: NameHints,
): FieldMapping {
  const find = columnFinder(columns);
  const names = columns.map(({ name }) => name);
  const mapped = new Map<string, string>();
  const problems: string[] = [];
  for (const field of fields) {
    const [found, ...others] = find(field);
    if (found === undefined) problems.push(unknownField(field, names, hints));
    else if (others.length > 0) {
      problems.push(`"${field}" could be ${quoted([found, ...others], " or ")}.`);
    } else mapped.set(field, found);
  }
  for (const [column, pairs] of Map.groupBy(mapped, ([, column]) => column)) {
    const same = pairs.map(([field]) => field);
    if (same.length > 1) problems.push(`${quoted(same, " and ")} are both "${column}".`);
  }
  return { columns: mapped, problems };
}

/** Finds the columns that a field could mean. Every column is read once, not once for each field. */
function columnFinder(columns: readonly SchemaColumn[]): (field: string) => readonly string[] {
  const names = new Set(columns.map(({ name }) => name));
  const byPlainName = namesBy(columns, ({ name }) => [plain(name)]);
  const byPhrase = namesBy(columns, ({ comment }) => comment === null ? [] : phrases(comment));
  return (field) => {
    if (names.has(field)) return [field];
    const plainField = plain(field);
    return byPlainName.get(plainField) ?? byPhrase.get(plainField) ?? [];
  };
}

function namesBy(
  columns: readonly SchemaColumn[],
  keysOf: (column: SchemaColumn) => readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const column of columns) {
    for (const key of new Set(keysOf(column))) {
      const names = found.get(key);
      if (names === undefined) found.set(key, [column.name]);
      else names.push(column.name);
    }
  }
  return found;
}

/** The parts of a comment that could name its column, including the whole comment. */
function phrases(comment: string): string[] {
  const parts = comment.split(/[,;:.()|/"'\n]|\b(?:or|aka|also|synonyms?|called)\b/i);
  return [comment, ...parts].map(plain).filter((phrase) => phrase !== "");
}

function unknownField(field: string, names: readonly string[], hints: NameHints): string {
  const nearest = hints.nearest(field, names);
  const hint = nearest.length === 0 ? "" : ` Similar: ${nearest.join(", ")}.`;
  return `"${field}" is not a column.${hint}`;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function quoted(names: readonly string[], separator: string): string {
  const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : [];
  return [...names.slice(0, MAX_NAMED).map((name) => `"${name}"`), ...more].join(separator);
}
