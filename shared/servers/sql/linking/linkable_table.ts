/** The column data for choosing tables. */
export interface LinkableColumn {
  readonly name: string;
  readonly type: string;
  readonly comment: string | null;
  /** How the database fills it, such as `generated`. @default nothing special */
  readonly origin?: string;
}

/** A foreign key of a table. */
export interface LinkableKey {
  readonly columns: readonly string[];
  /** Index of the table that it points to. */
  readonly target: number;
  readonly targetColumns: readonly string[];
  /** Inferred from the columns' names; no constraint declares it. */
  readonly isInferred: boolean;
}

/** The data of a table or view for choosing tables. */
export interface LinkableTable {
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  readonly columns: readonly LinkableColumn[];
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly LinkableKey[];
  /** How it differs from a plain table, such as `view, read only`. @default as a table */
  readonly form?: string;
  /** The enums and other types of its columns, one line each. @default none */
  readonly types?: readonly string[];
}
