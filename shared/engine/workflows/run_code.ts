import { checkedValue, storedValue } from "./checked_value.ts";
import { createFlow, type FlowHost } from "./create_flow.ts";
import type { Journal } from "./journal.ts";
import type { AnyWorkflow } from "./workflow.ts";
import { type RunContext, type RunControl, type RunEnd, WorkflowRun } from "./workflow_run.ts";

/**
 * Runs a workflow's code from its recorded steps to its end, or to the first thing that it has to
 * wait for.
 *
 * @throws LEASE_LOST, and what else the journal throws
 */
export async function runCode(
  workflow: AnyWorkflow,
  context: RunContext,
  ports: { readonly journal: Journal; readonly control: RunControl; readonly host: FlowHost },
): Promise<RunEnd> {
  const run = new WorkflowRun(context, ports.journal, ports.control);
  const { name } = workflow;
  const follow = async () => {
    const attempt = `start the workflow "${name}"`;
    const input = await checkedValue(workflow.input, context.input, {
      code: "TASK_INPUT_INVALID",
      attempt,
    });
    const result = await workflow.run(createFlow(run, ports.host), input);
    await run.assertUnchanged(null);
    const error = {
      code: "OUTPUT_SCHEMA_MISMATCH",
      attempt: `end the workflow "${name}"`,
    } as const;
    const output = storedValue(result, error);
    run.finish({
      end: "completed",
      output: storedValue(await checkedValue(workflow.output, output, error), error),
    });
  };
  follow().catch((error) => run.fail(error));
  return await run.ended;
}
