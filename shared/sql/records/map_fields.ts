import { nearestNames } from "../../nearest_names.ts";
import type { SchemaColumn } from "../schema/database_schema.ts";

/** The column of each field, and the problems. */
export interface FieldMapping {
  /** Column names by field. */
  readonly columns: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/**
 * Finds the column of each field: by name, otherwise ignoring case and separators, otherwise by a
 * synonym, which is a phrase in the column's comment. An ambiguous field is a problem.
 */
export function mapFields(
  fields: readonly string[],
  columns: readonly SchemaColumn[],
): FieldMapping {
  const mapped = new Map<string, string>();
  const problems: string[] = [];
  for (const field of fields) {
    const [found, ...others] = columnsOf(field, columns);
    if (found === undefined) problems.push(unknownField(field, columns));
    else if (others.length > 0) {
      problems.push(`"${field}" could be ${[found, ...others].map(quoted).join(" or ")}.`);
    } else mapped.set(field, found);
  }
  for (const { name } of columns) {
    const same = [...mapped].filter(([, column]) => column === name).map(([field]) => field);
    if (same.length > 1) problems.push(`${same.map(quoted).join(" and ")} are both "${name}".`);
  }
  return { columns: mapped, problems };
}

function columnsOf(field: string, columns: readonly SchemaColumn[]): string[] {
  const plainField = plain(field);
  const rules: ((column: SchemaColumn) => boolean)[] = [
    ({ name }) => name === field,
    ({ name }) => plain(name) === plainField,
    ({ comment }) => comment !== null && phrases(comment).includes(plainField),
  ];
  for (const isMeant of rules) {
    const found = columns.filter(isMeant).map(({ name }) => name);
    if (found.length > 0) return found;
  }
  return [];
}

/** The parts of a comment that could name its column, including the whole comment. */
function phrases(comment: string): string[] {
  const parts = comment.split(/[,;:.()|/"'\n]|\b(?:or|aka|also|synonyms?|called)\b/i);
  return [comment, ...parts].map(plain).filter((phrase) => phrase !== "");
}

function unknownField(field: string, columns: readonly SchemaColumn[]): string {
  const nearest = nearestNames(field, columns.map(({ name }) => name));
  const hint = nearest.length === 0 ? "" : ` Similar: ${nearest.join(", ")}.`;
  return `"${field}" is not a column.${hint}`;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function quoted(name: string): string {
  return `"${name}"`;
}
