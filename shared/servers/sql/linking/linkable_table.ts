/** The column data for choosing tables. */
export interface LinkableColumn {
  readonly name: string;
  readonly type: string;
  readonly comment: string | null;
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
}
