import assert from "node:assert/strict";
import { findOutcomes, type ScriptedRequest } from "../../../scripts/models/scripted_agent.ts";
import { changeToolConfig, toolId } from "../operator.ts";
import { call, complete, completeWithResults } from "../script.ts";
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

  await t.step("internal: another job's file and data are refused", async () => {
    const other = await runJob(stage, { tools: [], turns: [SAVE, complete("saved")] });
    const [path = ""] = other.task.storage_paths;

    const { task, calls } = await runJob(stage, {
      tools: [{ id }],
      turns: [{
        toolCalls: [
          { name: "artifacts__read_file", arguments: { path } },
          {
            name: "artifacts__read_data",
            arguments: { task_id: other.task.id, key: "report.md" },
          },
        ],
      }, completeWithResults],
    });

    assert.doesNotMatch(JSON.stringify(task.output), /# Mine/);
    assert.deepEqual(calls.map(({ output }) => output.error_code), ["TOOL_FAILED", "TOOL_FAILED"]);
  });

  await t.step("internal: a read that times out is repeated", async () => {
    const { task, executions } = await runJob(stage, {
      tools: [{ id }],
      turns: [
        SAVE,
        LIST,
        async (request) => {
          await changeToolConfig(sql, id, { timeout_ms: 1 });
          return readListedFile(request);
        },
        async (request) => {
          await changeToolConfig(sql, id, { timeout_ms: 30_000 });
          return readListedFile(request);
        },
        completeWithResults,
      ],
    });

    assert.match(JSON.stringify(task.output), /# Mine/);
    assert.deepEqual(
      executions.map(({ tool_name, error_code }) => [tool_name, error_code]),
      [["list_artifacts", null], ["read_file", "TOOL_TIMEOUT"], ["read_file", null]],
    );
  });
}

function readListedFile(request: ScriptedRequest) {
  const [listing] = findOutcomes(request, "list_artifacts");
  const path = /"([^"]+\.md)"\]/.exec(listing?.text ?? "")?.[1] ?? "";
  return call("artifacts__read_file", { path });
}
