import { z } from "../../vendor/zod.js";
import type { TransactionSql } from "../../vendor/postgres.js";
import type { JsonValue } from "../../platform/values/json.ts";
import { checkDefinition, definitionOf } from "./definition_call.ts";
import { runGuarded, sendOne } from "./guarded_transaction.ts";
import { quoteName } from "../sql/schema/quote_name.ts";
import { readsHiddenRows } from "./hidden_rows.ts";
import { assertMayWrite } from "./missing_rights.ts";
import { toJson } from "./to_json.ts";
import { type AdmittedStatement, parametersOf } from "./judged_call.ts";

/** The planner's estimate for a statement; null values if it would tell about rows of others. */
export interface StatementPlan {
  readonly plan: JsonValue | null;
  readonly totalCost: number | null;
  readonly estimatedRows: number | null;
  readonly warnings: readonly string[];
}

/** The prefix of the statement in the text sent to the server. */
export const EXPLAIN_PREFIX = "explain (format json, verbose off) ";

/** A full scan of fewer rows needs no warning. */
const LARGE_TABLE_ROWS = 100_000;

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string | undefined;
  readonly "Plan Rows"?: number | undefined;
  readonly "Total Cost"?: number | undefined;
  readonly Plans?: readonly PlanNode[] | undefined;
}

const planNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    "Node Type": z.string(),
    "Relation Name": z.string().optional(),
    "Plan Rows": z.number().optional(),
    "Total Cost": z.number().optional(),
    Plans: z.array(planNode).optional(),
  })
);
const planSchema = z.tuple([z.object({ Plan: planNode })]);

/** The OID of EXPLAIN's result type. */
const JSON_TYPE = 114;

const NO_PLAN: StatementPlan = {
  plan: null,
  totalCost: null,
  estimatedRows: null,
  warnings: [],
};

const PLAN_WITHHELD: StatementPlan = {
  ...NO_PLAN,
  warnings: [
    "PostgreSQL can plan the statement, but the plan depends on rows that you may not see.",
  ],
};

/**
 * Plans a statement as the caller, or checks that a definition can succeed, which nothing plans.
 *
 * @throws SwarmError `SQL_RIGHT_MISSING` for a statement that could not succeed if it was confirmed.
 */
export async function planCall(call: AdmittedStatement): Promise<StatementPlan> {
  const definition = definitionOf(call);
  if (definition === null) return await runGuarded(call, true, (sql) => planStatement(call, sql));
  await checkDefinition(definition);
  return NO_PLAN;
}

/**
 * Plans a statement without running it. An `EXPLAIN` is not planned, because it may run the
 * statement that it explains.
 */
export async function planStatement(
  call: AdmittedStatement,
  sql: TransactionSql,
): Promise<StatementPlan> {
  const { statement, request } = call;
  if (statement.isExplain || statement.kind === "VariableShowStmt") return NO_PLAN;
  await assertMayWrite(call, sql);
  const [row] = await sendOne(sql, `${EXPLAIN_PREFIX}${statement.text}`, parametersOf(request));
  if (await readsHiddenRows(call, sql)) return request.explain ? PLAN_WITHHELD : NO_PLAN;
  const plan = toJson(row?.[0] ?? null, JSON_TYPE);
  const parsed = planSchema.safeParse(plan);
  if (!parsed.success) return NO_PLAN;
  const root = parsed.data[0].Plan;
  return {
    plan,
    totalCost: root["Total Cost"] ?? null,
    estimatedRows: affectedRows(root),
    warnings: await scanWarnings(sql, root),
  };
}

/** `ModifyTable` itself has rows only for `RETURNING`; its child node has the changed rows. */
function affectedRows(root: PlanNode): number | null {
  const [source] = root.Plans ?? [];
  const counted = root["Node Type"] === "ModifyTable" ? source : root;
  return counted?.["Plan Rows"] ?? null;
}

async function scanWarnings(sql: TransactionSql, root: PlanNode): Promise<string[]> {
  const scanned = new Set<string>();
  const waiting: PlanNode[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const { "Node Type": type, "Relation Name": relation, Plans = [] } = node;
    if (type === "Seq Scan" && relation !== undefined) scanned.add(relation);
    waiting.push(...Plans);
  }
  if (scanned.size === 0) return [];
  const large = await sql<{ relname: string; rows: number }[]>`
    select relname, max(reltuples)::float8 as rows
    from pg_catalog.pg_class
    where ${sql.json([...scanned])} ? relname and reltuples >= ${LARGE_TABLE_ROWS}
    group by relname
    order by relname`;
  return large.map(({ relname, rows }) =>
    `Full scan of ${quoteName(relname)}, about ${
      Math.round(rows)
    } rows: an index on what is filtered would help.`
  );
}
