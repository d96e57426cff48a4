import type { TransactionSql } from "../../vendor/postgres.js";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { sqlName } from "../sql/schema/quote_name.ts";
import type { NamedWrite } from "../sql/verdict.ts";
import type { AdmittedStatement } from "./judged_call.ts";

/** SQLSTATE of a missing right. */
export const INSUFFICIENT_PRIVILEGE = "42501";

/**
 * Refuses a write that could not succeed: the caller lacks a right on a table, a column or a
 * sequence, or no policy could let a row through. Planning finds the other missing rights.
 *
 * @throws SwarmError `SQL_RIGHT_MISSING`
 */
export async function assertMayWrite(
  { statement: { named } }: Pick<AdmittedStatement, "statement">,
  sql: TransactionSql,
): Promise<void> {
  for (const write of named.writes) await assertMayWriteTo(write, sql);
  if (named.advanced.length === 0) return;
  const [closed] = await sql<{ name: string }[]>`
    select sequence.name
    from jsonb_array_elements_text(${sql.json([...named.advanced])}) as sequence (name)
    where not pg_catalog.has_sequence_privilege(pg_catalog.to_regclass(sequence.name), 'usage, update')`;
  if (closed !== undefined) throw lacks(`USAGE on sequence ${closed.name}`);
}

/** @throws SwarmError `SQL_RIGHT_MISSING` */
export async function assertMayWriteTo(
  { schema, name, command, columns }: NamedWrite,
  sql: TransactionSql,
): Promise<void> {
  const [row] = await sql<{ missing: string | null }[]>`
    select private.missing_write_right(
      p_relation_id => pg_catalog.to_regclass(${sqlName({ schema, name })}),
      p_command => ${command},
      p_columns => ${columns === null ? null : sql.json([...columns])}
    ) as missing`;
  const missing = row?.missing ?? null;
  if (missing !== null) throw lacks(missing);
}

function lacks(right: string): SwarmError {
  return new SwarmError(
    "SQL_RIGHT_MISSING",
    `Cannot run the write: permission denied, it lacks ${right}`,
    {
      hint: "Nothing was asked and nothing was changed. Ask an operator for the right, or change " +
        "the statement.",
      details: { missing: [right] },
    },
  );
}
