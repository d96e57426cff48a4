/**
 * A check constraint of the form `column in (…)` or `column = any ('{…}')`, or of an array
 * `column <@ array[…]`.
 */
export interface ClosedSetRow {
  readonly table_name: string;
  readonly column_name: string;
  /** As `pg_get_constraintdef` prints it. */
  readonly definition: string;
}

/** Lists the constraints that limit a text column of schema `public`, or the type of an event, to a set of labels. */
export const CLOSED_SET_QUERY = `
  select relation.relname as table_name, attribute.attname as column_name,
    pg_get_constraintdef(con.oid) as definition
  from pg_constraint as con
  join pg_class as relation on relation.oid = con.conrelid
  join pg_attribute as attribute on attribute.attrelid = relation.oid and con.conkey = array[attribute.attnum]
  where con.contype = 'c'
    -- The view public.task_events has the events' types, but views have no constraints.
    and (relation.relnamespace = 'public'::regnamespace or con.conrelid = 'private.task_events'::regclass)
    and pg_get_constraintdef(con.oid) ~ '(= ANY \\(+|<@ )(ARRAY\\[|''\\{)'
  order by 1, 2`;

/** Writes the sets as TypeScript: `CLOSED_SETS.tasks.status` is a tuple of the column's labels. */
export function closedSetsSource(rows: readonly ClosedSetRow[]): string {
  const tables = new Map<string, string[]>();
  for (const { table_name, column_name, definition } of rows) {
    const labels = labelsIn(definition).map((label) => JSON.stringify(label));
    const columns = tables.get(table_name) ?? [];
    columns.push(`    ${column_name}: [${labels.join(", ")}],`);
    tables.set(table_name, columns);
  }
  const body = [...tables].map(([table, columns]) => `  ${table}: {\n${columns.join("\n")}\n  },`);
  return [
    "/** The labels that check constraints allow, by table and column. */",
    "export const CLOSED_SETS = {",
    ...body,
    "} as const;",
    "",
  ].join("\n");
}

/** The labels of `ARRAY['…'::text, …]` and of `'{…}'::text[]`, where none needs quotes of its own. */
export function labelsIn(definition: string): string[] {
  const literal = definition.match(/'\{(.*)\}'::text\[\]/)?.[1];
  if (literal !== undefined) return literal.split(",");
  return [...definition.matchAll(/'((?:[^']|'')*)'::/g)].map(([, label = ""]) =>
    label.replaceAll("''", "'")
  );
}
