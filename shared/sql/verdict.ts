/** What a text is, from harmless to refused. */
export type StatementClass = "read" | "write" | "ddl" | "forbidden" | "multi" | "invalid";

/** A relation that a statement names. */
export interface NamedRelation {
  /** Null: found by the search path. */
  readonly schema: string | null;
  readonly name: string;
  /** Whether the statement writes to it or defines it. */
  readonly isTarget: boolean;
}

/** What a statement names, for checks that need the database. */
export interface NamedObjects {
  readonly relations: readonly NamedRelation[];
  /** Functions without a schema: a function of the project could stand in for a built-in one. */
  readonly functions: readonly string[];
  readonly operators: readonly string[];
  /** Last parts of qualified columns: `row.name` may call a function of that name. */
  readonly columns: readonly string[];
}

/** Why a text is not accepted, or why it is more than a read. */
export interface Finding {
  readonly statementClass: "write" | "ddl" | "forbidden" | "multi" | "invalid";
  /** A sentence for people and models. */
  readonly reason: string;
  /** Index into the text in UTF-16 code units; null: the text as a whole. */
  readonly position: number | null;
}

/** The judgement about one text. It depends on the text and the policy alone. */
export interface SqlVerdict {
  readonly statementClass: StatementClass;
  /** Of the verdict's class, in the order of the text; empty for a read. */
  readonly findings: readonly Finding[];
  /** The one statement; null where there is none, or more than one. */
  readonly statement: SqlStatement | null;
}

/** The one statement of a text. */
export interface SqlStatement {
  /** Its own text: without what stands before and after it. */
  readonly text: string;
  /** The same for all spellings of the same statement, different for any other constant or name. */
  readonly canonicalTree: string;
  /** The root of the syntax tree, for example `SelectStmt`. */
  readonly kind: string;
  readonly isExplain: boolean;
  /** An `UPDATE` or `DELETE` without `WHERE`. */
  readonly lacksWhere: boolean;
  /** The largest `$n`; 0: it takes no parameters. */
  readonly parameterCount: number;
  readonly named: NamedObjects;
}
