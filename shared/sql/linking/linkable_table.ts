/** A column as the choice of tables for a question reads it. */
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
  /** Read off the columns' names, since no constraint declares it. */
  readonly isInferred: boolean;
}

/** A table or view as the choice of tables for a question reads it. */
export interface LinkableTable {
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  readonly columns: readonly LinkableColumn[];
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly LinkableKey[];
}
