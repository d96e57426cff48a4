import { nearestNames } from "../../nearest_names.ts";
import type { SchemaColumn } from "../schema/database_schema.ts";

/** Which column each given field is, and which are none. */
export interface FieldMapping {
  /** Column names by field. */
  readonly columns: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/**
 * Finds the column of each field: by its name, else whatever its case and separators, else by a
 * synonym, which is a phrase of the column's comment. A field that could be several columns is none.
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

/** The parts of a comment that could name its column, the whole included. */
function phrases(comment: string): string[] {
  const parts = comment.split(/[,;:.()|/"'\n]|\b(?:or|aka|also|synonyms?|called)\b/i);
  return [comment, ...parts].map(plain).filter((phrase) => phrase !== "");
}

function unknownField(field: string, columns: readonly SchemaColumn[]): string {
  const nearest = nearestNames(field, columns.map(({ name }) => name));
  const hint = nearest.length === 0 ? "" : ` Similar: ${nearest.join(", ")}.`;
  return `"${field}" is no column.${hint}`;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function quoted(name: string): string {
  return `"${name}"`;
}
