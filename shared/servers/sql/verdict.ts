import type { GuardSchema } from "./guarded_calls.ts";

/** Statement classes, from harmless to forbidden. */
export type StatementClass = "read" | "write" | "ddl" | "forbidden" | "multi" | "invalid";

/** A relation named in a statement. */
export interface NamedRelation {
  /** Null if found by the search path. */
  readonly schema: string | null;
  readonly name: string;
  /** True if the statement writes to it or defines it. */
  readonly isTarget: boolean;
}

/** A table whose rows a statement writes. */
export interface NamedWrite {
  /** Null if found by the search path. */
  readonly schema: string | null;
  readonly name: string;
  readonly command: "insert" | "update" | "delete";
  /** The columns that it sets; null if it does not name them. */
  readonly columns: readonly string[] | null;
}

/** An object that a definition creates, changes or uses. */
export interface DefinitionTarget {
  readonly kind: "relation" | "type";
  /** Null if found by the search path. */
  readonly schema: string | null;
  readonly name: string;
  readonly effect: "create" | "change" | "use";
  readonly mayExist: boolean;
  readonly mayMiss: boolean;
}

/** A statement of the class ddl. */
export interface Definition {
  /** The root of the syntax tree. */
  readonly kind: string;
  readonly targets: readonly DefinitionTarget[];
  /** Why no one can run it here, as a sentence; null if an operator can. */
  readonly limit: string | null;
}

/** The names in a statement, for checks that need the database. */
export interface NamedObjects {
  readonly relations: readonly NamedRelation[];
  /** Relations or queries of the statement, which may have the same names. */
  readonly shadowed: readonly NamedRelation[];
  readonly writes: readonly NamedWrite[];
  /** Relations of which `TABLESAMPLE` chooses rows. */
  readonly sampled: readonly Pick<NamedRelation, "schema" | "name">[];
  /** Sequences whose next value it takes, as texts. */
  readonly advanced: readonly string[];
  /**
   * Functions without a schema, because a function of the project could run instead of a built-in
   * one. Includes keywords of SQL/JSON, which older servers read as names of functions.
   */
  readonly functions: readonly string[];
  /** Whether it makes lists of values from rows. */
  readonly makesLists: boolean;
  /** Whether it has a text or a parameter, which PostgreSQL may convert to the type of another value. */
  readonly hasTexts: boolean;
  /** All functions, without their schemas. */
  readonly called: readonly string[];
  readonly operators: readonly string[];
  /** `name` in `row.name`, which may call a function of that name. */
  readonly rowAttributes: readonly string[];
  /**
   * `name` in `(value).name`, or in `row.name` where the row may be a function's value: it may call
   * a function of that name with an argument of any type.
   */
  readonly attributes: readonly string[];
  /** Types without their schemas. */
  readonly types: readonly string[];
}

/** The reason why a text is not accepted, or is more than a read. */
export interface Finding {
  readonly statementClass: "write" | "ddl" | "forbidden" | "multi" | "invalid";
  /** A sentence for people and models. */
  readonly reason: string;
  /** Index into the text in UTF-16 code units; null for the text as a whole. */
  readonly position: number | null;
}

/** The verdict on one text. It depends only on the text and the policy. */
export interface SqlVerdict {
  readonly statementClass: StatementClass;
  /** The first findings of the verdict's class, in text order; empty for a read. */
  readonly findings: readonly Finding[];
  /** The statement; null if there is none, or more than one. */
  readonly statement: SqlStatement | null;
}

/** The single statement of a text. */
export interface SqlStatement {
  /** Its own text, without surrounding text. */
  readonly text: string;
  /** The same for every formatting of the statement, different for any other constant or name. */
  readonly canonicalTree: string;
  /** The root of the syntax tree, for example `SelectStmt`. */
  readonly kind: string;
  readonly isExplain: boolean;
  /** An `UPDATE` or `DELETE` without `WHERE`, or with one that names no column. */
  readonly lacksWhere: boolean;
  /** The largest `$n`; 0 without parameters. */
  readonly parameterCount: number;
  /** Schemas of functions that check the lengths of arguments, to be searched first. */
  readonly guards: readonly GuardSchema[];
  readonly named: NamedObjects;
  /** Null for a read or a write. */
  readonly definition: Definition | null;
}
