import type { Sql } from "../../shared/db/sql_client.ts";
import type { JsonObject } from "../../shared/json.ts";
import { changeData, changeError, type TableChange } from "./change_data.ts";
import type { ChangeHub, ChangeSubscription } from "./change_hub.ts";
import { askAboutRows, type RowAnswer, type RowQuestion } from "./change_questions.ts";
import { isStatementError } from "./statement_error.ts";
import { publishedTables, type TableShape } from "./table_shape.ts";

/** Who receives one change, and what of it. */
export type Verdict = readonly {
  readonly subscription: ChangeSubscription;
  readonly data: JsonObject;
}[];

type Delivery = Verdict[number];

/** Changes of one table and kind, and the followers that share an identity. */
interface Group {
  readonly changes: { readonly index: number; readonly change: TableChange }[];
  readonly subscriptions: ChangeSubscription[];
  readonly first: ChangeSubscription;
  readonly sample: TableChange;
}

/**
 * Decides who may see which change, one verdict for each change: as each follower, rows are looked
 * for by their key and filters are evaluated, many rows with one question.
 */
export async function verdictsOf(
  sql: Sql,
  hub: ChangeHub,
  changes: readonly TableChange[],
): Promise<Verdict[]> {
  const verdicts: Delivery[][] = changes.map(() => []);
  for (const group of groupsOf(hub, changes)) {
    const { schema, table } = group.sample;
    const { role } = group.first.identity;
    const [shape] = await publishedTables(sql, { role, schema, table });
    // Taken out of the publication, or dropped, since the change.
    if (shape === undefined) continue;
    const deliveries = await judge(sql, shape, group);
    group.changes.forEach(({ index }, position) =>
      verdicts[index]?.push(...deliveries[position] ?? [])
    );
  }
  return verdicts;
}

function groupsOf(hub: ChangeHub, changes: readonly TableChange[]): Iterable<Group> {
  const groups = new Map<string, Group>();
  const followers = new Map<string, Map<string, ChangeSubscription[]>>();
  changes.forEach((change, index) => {
    const kind = JSON.stringify([change.schema, change.table, change.type]);
    const byIdentity = followers.get(kind) ??
      Map.groupBy(hub.followers(change), ({ identity }) => JSON.stringify(identity.claims));
    followers.set(kind, byIdentity);
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

/** What goes out for each of the group's changes. */
async function judge(sql: Sql, table: TableShape, group: Group): Promise<Delivery[][]> {
  const changes = group.changes.map(({ change }) => change);
  const refuse = (error: string) =>
    changes.map((change) => errorsFor(group.subscriptions, change, error));
  const keys = table.columns.filter(({ isKey }) => isKey);
  const isDelete = group.sample.type === "DELETE";
  if (!isDelete && keys.length === 0) return refuse("Error 400: Bad Request, no primary key");
  if (!isDelete && !keys.every(({ isSelectable }) => isSelectable)) {
    return refuse("Error 401: Unauthorized");
  }
  const answers = await answersFor(sql, {
    table,
    identity: group.first.identity,
    checksPolicies: !isDelete && table.hasRowSecurity,
    filters: group.subscriptions.map(({ conditions }) => conditions),
    rows: changes.map(shownRow),
  });
  return changes.map((change, position) => {
    const answer = answers[position];
    return answer === undefined || answer === "failed"
      ? errorsFor(
        group.subscriptions,
        change,
        "Error 500: Internal Server Error, RLS policy evaluation failed",
      )
      : deliveriesOf(table, change, group.subscriptions, answer);
  });
}

/** Asks about all rows at once; if a policy raises, about each alone, to find out for which. */
async function answersFor(sql: Sql, question: RowQuestion): Promise<(RowAnswer | "failed")[]> {
  try {
    return await askAboutRows(sql, question);
  } catch (error) {
    if (!isStatementError(error)) throw error;
    if (question.rows.length <= 1) return ["failed"];
    const answers: (RowAnswer | "failed")[] = [];
    for (const row of question.rows) {
      answers.push(...await answersFor(sql, { ...question, rows: [row] }));
    }
    return answers;
  }
}

function deliveriesOf(
  table: TableShape,
  change: TableChange,
  subscriptions: readonly ChangeSubscription[],
  answer: RowAnswer,
): Delivery[] {
  const row = shownRow(change);
  const dataBySelection = new Map<string, JsonObject>();
  return subscriptions.flatMap((subscription, position) => {
    const { conditions, selected } = subscription;
    // What the old row does not hold cannot be compared, so nothing of it passes a filter.
    const isComparable = conditions.every(({ column }) => Object.hasOwn(row, column));
    if (!answer.isVisible || !answer.matches[position] || !isComparable) return [];
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

/** What is known of the row: as it is, or for a delete as it was. */
function shownRow(change: TableChange): JsonObject {
  return change.record ?? change.oldRecord ?? {};
}
