import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { changeData, changeError, type TableChange } from "./change_data.ts";
import type { ChangeHub, ChangeSubscription } from "./change_hub.ts";
import { checkRows, type RowCheck, type RowResult } from "./check_rows.ts";
import { isStatementError } from "./statement_error.ts";
import { publishedTables, type TableShape } from "./table_shape.ts";

/** The subscriptions that receive one change, each with its data. */
export type Deliveries = readonly {
  readonly subscription: ChangeSubscription;
  readonly data: JsonObject;
}[];

type Delivery = Deliveries[number];

/** Changes of one table and type, and the subscriptions that share an identity. */
interface Group {
  readonly changes: { readonly index: number; readonly change: TableChange }[];
  readonly subscriptions: ChangeSubscription[];
  readonly first: ChangeSubscription;
  readonly sample: TableChange;
}

/**
 * Returns the deliveries of each change. For each identity, it looks up rows by key with that
 * identity's permissions and evaluates filters, many rows in one query.
 */
export async function authorizeChanges(
  sql: Sql,
  hub: ChangeHub,
  changes: readonly TableChange[],
): Promise<Deliveries[]> {
  const deliveries: Delivery[][] = changes.map(() => []);
  for (const group of groupsOf(hub, changes)) {
    const { schema, table } = group.sample;
    const { role } = group.first.identity;
    const [shape] = await publishedTables(sql, { role, schema, table });
    // The table was dropped, or removed from the publication, after the change.
    if (shape === undefined) continue;
    const groupDeliveries = await authorizeGroup(sql, shape, group);
    group.changes.forEach(({ index }, position) =>
      deliveries[index]?.push(...groupDeliveries[position] ?? [])
    );
  }
  return deliveries;
}

function groupsOf(hub: ChangeHub, changes: readonly TableChange[]): Iterable<Group> {
  const groups = new Map<string, Group>();
  const subscribers = new Map<string, Map<string, ChangeSubscription[]>>();
  changes.forEach((change, index) => {
    const kind = JSON.stringify([change.schema, change.table, change.type]);
    const byIdentity = subscribers.get(kind) ??
      Map.groupBy(hub.subscriptionsTo(change), ({ identity }) => JSON.stringify(identity.claims));
    subscribers.set(kind, byIdentity);
    for (const [claims, subscriptions] of byIdentity) {
      const [first] = subscriptions;
      if (first === undefined) continue;
      const key = `${kind} ${claims}`;
      const group = groups.get(key) ?? { changes: [], subscriptions, first, sample: change };
      group.changes.push({ index, change });
      groups.set(key, group);
    }
  });
  return groups.values();
}

/** Returns the deliveries of each change of the group. */
async function authorizeGroup(sql: Sql, table: TableShape, group: Group): Promise<Delivery[][]> {
  const changes = group.changes.map(({ change }) => change);
  const refuse = (error: string) =>
    changes.map((change) => errorsFor(group.subscriptions, change, error));
  const keys = table.columns.filter(({ isKey }) => isKey);
  const isDelete = group.sample.type === "DELETE";
  if (!isDelete && keys.length === 0) return refuse("Error 400: Bad Request, no primary key");
  if (!isDelete && !keys.every(({ isSelectable }) => isSelectable)) {
    return refuse("Error 401: Unauthorized");
  }
  const results = await resultsFor(sql, {
    table,
    identity: group.first.identity,
    checksPolicies: !isDelete && table.hasRowSecurity,
    filters: group.subscriptions.map(({ conditions }) => conditions),
    rows: changes.map(shownRow),
  });
  return changes.map((change, position) => {
    const result = results[position];
    return result === undefined || result === "failed"
      ? errorsFor(
        group.subscriptions,
        change,
        "Error 500: Internal Server Error, RLS policy evaluation failed",
      )
      : deliveriesOf(table, change, group.subscriptions, result);
  });
}

/**
 * Checks all rows at once. If a policy raises, checks each row separately to find which one fails.
 */
async function resultsFor(sql: Sql, check: RowCheck): Promise<(RowResult | "failed")[]> {
  try {
    return await checkRows(sql, check);
  } catch (error) {
    if (!isStatementError(error)) throw error;
    if (check.rows.length <= 1) return ["failed"];
    const results: (RowResult | "failed")[] = [];
    for (const row of check.rows) {
      results.push(...await resultsFor(sql, { ...check, rows: [row] }));
    }
    return results;
  }
}

function deliveriesOf(
  table: TableShape,
  change: TableChange,
  subscriptions: readonly ChangeSubscription[],
  result: RowResult,
): Delivery[] {
  const row = shownRow(change);
  const dataBySelection = new Map<string, JsonObject>();
  return subscriptions.flatMap((subscription, position) => {
    const { conditions, selected } = subscription;
    // A column that the old row does not have cannot be compared, so its filter does not match.
    const isComparable = conditions.every(({ column }) => Object.hasOwn(row, column));
    if (!result.isVisible || !result.matches[position] || !isComparable) return [];
    const selection = JSON.stringify(selected);
    const data = dataBySelection.get(selection) ?? changeData(table, change, selected);
    dataBySelection.set(selection, data);
    return [{ subscription, data }];
  });
}

function errorsFor(
  subscriptions: readonly ChangeSubscription[],
  change: TableChange,
  error: string,
): Delivery[] {
  const data = changeError(change, error);
  return subscriptions.map((subscription) => ({ subscription, data }));
}

/** Returns the new row, or the old row of a delete. */
function shownRow(change: TableChange): JsonObject {
  return change.record ?? change.oldRecord ?? {};
}
