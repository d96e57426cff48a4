import { type Ref, shallowRef } from "vue";
import { type StatementAnswer, statementAnswer } from "./statement_answer.ts";
import type { SqlWork, StatementArguments } from "./use_sql_work.ts";

/** The plan of the latest statement. */
export interface Planning {
  readonly plan: Ref<StatementAnswer | null>;
  /** Plans a statement without running it. */
  planOnly(given: StatementArguments): Promise<void>;
}

export function usePlan(work: SqlWork): Planning {
  const plan = shallowRef<StatementAnswer | null>(null);
  return {
    plan,
    planOnly: (given) =>
      work.start("running", async () => {
        plan.value = statementAnswer(await work.call("execute_sql", { ...given, explain: true }));
      }),
  };
}
