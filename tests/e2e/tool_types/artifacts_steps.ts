import assert from "node:assert/strict";
import { findOutcomes, type ScriptedRequest } from "../../../scripts/models/scripted_agent.ts";
import { toolId } from "../operator.ts";
import { call, completeWithResults } from "../script.ts";
import { runJob, type ToolStage } from "./tool_jobs.ts";

const SAVE = call("save_intermediate_data", { key: "report.md", value: "# Mine" });
const LIST = call("artifacts__list_artifacts");

/** Tests tools of type `internal` on the server `artifacts`, which reads Storage. */
export async function artifactsSteps(t: Deno.TestContext, stage: ToolStage): Promise<void> {
  const { sql } = stage.platform;
  const id = await toolId(sql, "artifacts");

  await t.step("internal: an agent reads its job's file from the private bucket", async () => {
    const { task, executions } = await runJob(stage, {
      tools: [{ id }],
      turns: [SAVE, LIST, readListedFile, completeWithResults],
    });

    assert.match(JSON.stringify(task.output), /# Mine/);
    assert.deepEqual(
      executions.map(({ mcp_name, tool_name, status }) => [mcp_name, tool_name, status]),
      [["artifacts", "list_artifacts", "success"], ["artifacts", "read_file", "success"]],
    );
  });
}

function readListedFile(request: ScriptedRequest) {
  const [listing] = findOutcomes(request, "list_artifacts");
  const path = /"([^"]+\.md)"\]/.exec(listing?.text ?? "")?.[1] ?? "";
  return call("artifacts__read_file", { path });
}
