import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { allowedFunctions } from "../sql/allowed_functions.ts";
import { EXTENSIONS_SCHEMA } from "../sql/sql_policy.ts";
import type { AdmittedStatement } from "./judged_call.ts";

/** The prefix of a sequence that a statement reads. */
const SEQUENCE = "sequence ";

/** Functions that convert values to the types of a row's columns. */
const MAKES_ROWS = /^jsonb?_populate_record/;

/**
 * Refuses a statement that could run, on this server, a function that the policy does not list:
 * by a name that means another function there, by `row.name`, an operator, a cast or a domain. Also
 * refuses one that reads a sequence, which only the server knows from a table.
 *
 * @throws SwarmError `SQL_FORBIDDEN`
 */
export async function assertCallsOnlyListed(
  call: Pick<AdmittedStatement, "context" | "settings" | "statement">,
): Promise<void> {
  const { sql } = call.context;
  const found = await sql<{ name: string }[]>`
    select name from private.unlisted_calls(${sql.json(namesOf(call))}) as name order by name`;
  const [first] = found;
  if (first === undefined) return;
  if (first.name.startsWith(SEQUENCE)) {
    throw new SwarmError(
      "SQL_FORBIDDEN",
      `Cannot run the statement: the ${first.name} tells how many rows others have written`,
      { hint: "Read the rows that it numbers; nextval() takes a value." },
    );
  }
  throw new SwarmError(
    "SQL_FORBIDDEN",
    `Cannot run the statement: it could run the ${first.name}, which the SQL policy does not list`,
    {
      hint:
        "Qualify a built-in function as pg_catalog.name, name a column without its row, or ask " +
        "an operator to add the project's function to the SQL policy.",
    },
  );
}

function namesOf(
  { settings, statement: { named } }: Pick<AdmittedStatement, "settings" | "statement">,
): JsonObject {
  const relations = [...named.relations, ...named.shadowed];
  const attributes = [...named.rowAttributes, ...named.attributes];
  return {
    schemas: [...settings.exposed_schemas, EXTENSIONS_SCHEMA],
    opted_in: [...settings.read_functions, ...settings.write_functions],
    functions: [...named.functions],
    called: [...named.called],
    row_attributes: [...named.rowAttributes],
    attributes: [...named.attributes],
    built_in: attributes.filter((name) => allowedFunctions().has(name)),
    operators: [...named.operators],
    types: [...named.types],
    relations: relations.map(({ name }) => name),
    read: relations.flatMap(({ name, isTarget }) => isTarget ? [] : name),
    has_texts: named.hasTexts,
    makes_rows: (named.makesLists && named.hasTexts) ||
      named.called.some((name) => MAKES_ROWS.test(name)),
  };
}
