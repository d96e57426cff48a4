import type { LiteSchema, RestPlan } from "./lite_contract.ts";

const JSON_TYPES = new Set(["json", "jsonb"]);

/** A JSON value that the service passes on unchanged, because it is not a string. */
class BoxedJson {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  /** `JSON.stringify` calls this when the value is sent to the database. */
  toJSON(): unknown {
    return this.#value;
  }
}

/**
 * Boxes all values of a REST request for `json` and `jsonb` columns and arguments.
 *
 * Without the box, the service parses strings in rows as JSON, sends booleans as booleans, and
 * passes function arguments on as JSON text, which the driver stores as a JSON string.
 */
export function boxJsonValues(plan: RestPlan, schema: LiteSchema): RestPlan {
  if (plan.values !== undefined && plan.from !== undefined) {
    const names = jsonColumns(plan, schema);
    const values = Array.isArray(plan.values)
      ? plan.values.map((row: object) => boxMembers(row, names))
      : boxMembers(plan.values, names);
    return { ...plan, values };
  }
  // Arguments in a URL are already JSON text.
  if (plan.function !== undefined && plan.args !== undefined && isPost(plan)) {
    return Array.isArray(plan.args)
      ? plan
      : { ...plan, args: boxMembers(plan.args, jsonArguments(plan, schema)) };
  }
  return plan;
}

function jsonColumns({ from, schema = "public" }: RestPlan, { columns }: LiteSchema): Set<string> {
  return new Set(
    columns.filter((column) =>
      column.table === from && column.schema === schema && JSON_TYPES.has(column.pg_type ?? "")
    ).map((column) => column.name),
  );
}

function jsonArguments(plan: RestPlan, { functions = [] }: LiteSchema): Set<string> {
  const { schema = "public" } = plan;
  return new Set(
    functions.filter((each) => each.schema === schema && each.name === plan.function)
      .flatMap((each) =>
        each.arg_names.filter((_, at) => JSON_TYPES.has(each.arg_types[at] ?? ""))
      ),
  );
}

function boxMembers(row: object, names: ReadonlySet<string>): object {
  if (names.size === 0) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      names.has(name) && value !== null ? new BoxedJson(value) : value,
    ]),
  );
}

function isPost(plan: RestPlan): boolean {
  return "httpMethod" in plan && plan.httpMethod === "POST";
}
