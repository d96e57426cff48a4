import { factsOf } from "../../results/tool_result.ts";
import { seemsToRead, statementAnswer } from "./statement_answer.ts";
import type { Confirming } from "./use_confirm.ts";
import type { Planning } from "./use_plan.ts";
import type { SqlWork, StatementArguments } from "./use_sql_work.ts";

/**
 * Returns the action that runs a statement. A read runs at once; anything else is planned first,
 * which changes nothing, and a write then waits for confirmation. The server decides what a
 * statement is: it refuses a write that was not planned.
 */
export function useRun(
  work: SqlWork,
  { plan }: Planning,
  { ask }: Confirming,
): (sql: string, given: StatementArguments) => Promise<void> {
  const runAtOnce = { dry_run: false };
  return (sql, given) =>
    work.start("running", async () => {
      plan.value = null;
      if (seemsToRead(sql)) {
        const result = await work.call("execute_sql", { ...given, ...runAtOnce });
        plan.value = statementAnswer(result);
        if (factsOf(result).errorCode !== "CONFIRMATION_REQUIRED") return;
      }
      const planned = await work.call("execute_sql", { ...given });
      const answer = plan.value = statementAnswer(planned);
      if (planned.isError) return;
      if (answer.statement_class === "read") {
        await work.call("execute_sql", { ...given, ...runAtOnce });
      } else if (answer.next_call !== undefined) ask(answer);
    });
}
