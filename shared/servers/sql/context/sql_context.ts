/** A query that answered a question well. */
export interface QueryPattern {
  readonly title: string;
  /** Notes on the SQL: when to use it, and what it answers. */
  readonly text: string;
  readonly sql: string;
}

/** An error and its fix. */
export interface ErrorFix {
  readonly title: string;
  readonly error: string;
  readonly fix: string;
}

/** A section written by people, with its heading. */
export interface Remark {
  readonly title: string;
  readonly text: string;
}

/** A project's learned context for writing SQL. */
export interface SqlContext {
  /** Notes by people about the schema, in addition to the generated part. */
  readonly overview: string;
  readonly patterns: readonly QueryPattern[];
  readonly fixes: readonly ErrorFix[];
  readonly insights: readonly Remark[];
  readonly modelNotes: readonly Remark[];
}

/** An empty context. */
export const EMPTY_CONTEXT: SqlContext = {
  overview: "",
  patterns: [],
  fixes: [],
  insights: [],
  modelNotes: [],
};
