/** A query with one typical mistake of models. */
export interface MutatedQuery {
  readonly operator: string;
  readonly sql: string;
}

type Mutation = (sql: string, tables: readonly string[]) => string | null;

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  unknown_table: (sql, [table]) => table === undefined ? null : renamed(sql, table, `${table}_x`),
  unknown_column: (sql) => replaceOnce(sql, /\b([a-z_]\w*)\.([a-z_]\w*)/i, "$1.$2_x"),
  unknown_function: (sql) => replaceOnce(sql, /\b(count|sum|avg|max|min)\s*\(/i, "datediff("),
  other_dialect: (sql) => replaceOnce(sql, /^select\b/i, "select top 5"),
  misspelled_keyword: (sql) => replaceOnce(sql, /\bfrom\b/i, "form"),
  missing_from: (sql) => replaceOnce(sql, /\bfrom\s+[\w.]+/i, ""),
  open_parenthesis: (sql) => replaceOnce(sql, /\)/, ""),
  open_text: (sql) => replaceOnce(sql, /'([^']*)'/, "'$1"),
  extra_comma: (sql) => replaceOnce(sql, /\bfrom\b/i, ", from"),
  unknown_alias: (sql) => replaceOnce(sql, /\b[a-z_]\w*\.([a-z_]\w*)/i, "nobody.$1"),
  stacked: (sql) => `${sql}; drop table x`,
  cut_in_half: (sql) => sql.slice(0, Math.floor(sql.length / 2)),
};

/** Returns the query with each possible mistake. */
export function mutateQuery(sql: string, tables: readonly string[]): MutatedQuery[] {
  return Object.entries(MUTATIONS).flatMap(([operator, mutate]) => {
    const mutated = mutate(sql, tables);
    return mutated === null || mutated === sql ? [] : [{ operator, sql: mutated }];
  });
}

function renamed(sql: string, table: string, name: string): string {
  return sql.replace(new RegExp(`\\b${table}\\b`, "gi"), name);
}

function replaceOnce(sql: string, pattern: RegExp, replacement: string): string | null {
  const match = pattern.exec(sql);
  if (match === null) return null;
  // A change inside a string literal would not be a mistake.
  const isInText = (sql.slice(0, match.index).split("'").length - 1) % 2 === 1;
  return isInText ? null : sql.replace(pattern, replacement);
}
