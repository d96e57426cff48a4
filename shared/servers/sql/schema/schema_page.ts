import {
  type DatabaseSchema,
  isNamed,
  qualifiedName,
  type SchemaRelation,
} from "./database_schema.ts";

/** The requested relations. */
export interface SchemaSelection {
  /** Names with or without a schema; null for all. */
  readonly names: readonly string[] | null;
  /** The last relation of the previous page; null for the first page. */
  readonly cursor: string | null;
  readonly limit: number;
}

/** A part of a schema's relations. */
export interface SchemaPage {
  readonly relations: readonly SchemaRelation[];
  /** Relations on the pages before. */
  readonly offset: number;
  /** Relations on all pages. */
  readonly total: number;
  /** Cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
  /** The requested names without a relation. */
  readonly unknownNames: readonly string[];
}

/**
 * The relations of one page. A cursor whose relation was dropped continues at its former position.
 */
export function pageOf(
  { relations }: DatabaseSchema,
  { names, cursor, limit }: SchemaSelection,
): SchemaPage {
  const selected = names === null
    ? relations
    : relations.filter((relation) => names.some((name) => isNamed(relation, name)));
  const offset = cursor === null ? 0 : offsetAfter(selected, cursor);
  const page = selected.slice(offset, offset + limit);
  const last = page.at(-1);
  return {
    relations: page,
    offset,
    total: selected.length,
    nextCursor: last !== undefined && offset + page.length < selected.length
      ? qualifiedName(last)
      : null,
    unknownNames: (names ?? []).filter((name) =>
      !relations.some((relation) => isNamed(relation, name))
    ),
  };
}

function offsetAfter(relations: readonly SchemaRelation[], cursor: string): number {
  const index = relations.findIndex((relation) => qualifiedName(relation) === cursor);
  return index >= 0
    ? index + 1
    : relations.filter((relation) => qualifiedName(relation) < cursor).length;
}
