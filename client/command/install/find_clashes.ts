import { type InstalledSchema, privateSchema } from "../release/fill_names.ts";

/** Something of the project that has a name which the platform needs. */
export interface Clash {
  readonly name: string;
  /** Path of the migration that creates it. */
  readonly path: string;
}

const CREATED =
  /\bcreate\s+(?:or\s+replace\s+)?(?:unlogged\s+|materialized\s+|recursive\s+)*(schema|table|view|function|type|sequence)\s+(?:if\s+not\s+exists\s+)?([\w."]+)/gi;

/**
 * Finds what a project's migrations create under names of the platform. The release itself checks
 * the database and refuses as a whole; this finds most of it before anything is written.
 *
 * @param names Of the platform's objects in the schema that clients read.
 */
export function findClashes(
  migrations: ReadonlyMap<string, string>,
  schema: InstalledSchema,
  names: ReadonlySet<string>,
): Clash[] {
  const schemas = new Set([privateSchema(schema), ...schema === "public" ? [] : [schema]]);
  return [...migrations].flatMap(([path, text]) =>
    [...withoutComments(text).matchAll(CREATED)].flatMap(([, kind = "", quoted = ""]) => {
      const parts = quoted.replaceAll('"', "").toLowerCase().split(".");
      const isClash = kind.toLowerCase() === "schema"
        ? schemas.has(parts.at(-1) ?? "")
        : schema === "public" && (parts.length === 1 || parts[0] === "public") &&
          names.has(parts.at(-1) ?? "");
      return isClash ? [{ name: parts.join("."), path }] : [];
    })
  );
}

function withoutComments(sql: string): string {
  return sql.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, "");
}
