/** A query that answered a question well. */
export interface QueryPattern {
  readonly title: string;
  /** What stands beside the SQL: when it serves, and what it answers. */
  readonly text: string;
  readonly sql: string;
}

/** An error, and what mends it. */
export interface ErrorFix {
  readonly title: string;
  readonly error: string;
  readonly fix: string;
}

/** A passage in people's own words, under its heading. */
export interface Remark {
  readonly title: string;
  readonly text: string;
}

/** What a project has learned about writing SQL for its database. */
export interface SqlContext {
  /** What people wrote about the schema beside what is generated. */
  readonly overview: string;
  readonly patterns: readonly QueryPattern[];
  readonly fixes: readonly ErrorFix[];
  readonly insights: readonly Remark[];
  readonly modelNotes: readonly Remark[];
}

/** Nothing is known yet. */
export const EMPTY_CONTEXT: SqlContext = {
  overview: "",
  patterns: [],
  fixes: [],
  insights: [],
  modelNotes: [],
};
