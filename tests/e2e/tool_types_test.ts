import assert from "node:assert/strict";
import { findExposures } from "../../scripts/demo/find_exposures.ts";
import { signUp } from "../../scripts/demo/user_client.ts";
import { bootPlatform } from "./platform.ts";
import { copyProject } from "./project_copy.ts";
import { artifactsSteps } from "./tool_types/artifacts_steps.ts";
import { databaseFunctionSteps } from "./tool_types/database_function_steps.ts";
import {
  edgeFunctionSteps,
  keepFunction,
  startRecorder,
} from "./tool_types/edge_function_steps.ts";
import { httpApiSteps } from "./tool_types/http_api_steps.ts";
import { mcpServerSteps } from "./tool_types/mcp_server_steps.ts";
import type { ToolStage } from "./tool_types/tool_jobs.ts";

Deno.test("agents run every type of tool with a credential and with a lost answer", async (t) => {
  await using recorder = startRecorder();
  await using copy = await copyProject({ keep: keepFunction(recorder.server.url) });
  // PGlite cannot cancel a statement at its time limit, so the outcome of a slow function is unknown.
  await using platform = await bootPlatform({ db: "pglite", projectRoot: copy.root });
  const user = await signUp(platform.project, "ada");
  const { data } = await user.client.auth.getUser();
  const { secretKey } = platform.stack;
  const stage: ToolStage = {
    platform,
    user,
    userId: data.user?.id ?? "",
    secrets: [secretKey, user.accessToken],
  };

  await mcpServerSteps(t, stage);
  await httpApiSteps(t, stage);
  await databaseFunctionSteps(t, stage);
  await edgeFunctionSteps(t, stage, recorder);
  await artifactsSteps(t, stage);

  await t.step("only Vault contains secrets", async () => {
    const { sql, stack, logLines } = platform;
    const requests = stack.models.journal.entries().map(({ body }) => body).join("\n");

    const found = await findExposures(sql, stage.secrets, [
      { where: "logs", text: logLines.join("\n") },
      { where: "model requests", text: requests },
    ]);

    assert.ok(requests.includes("[redacted]") && stage.secrets.length > 4);
    assert.deepEqual(found, []);
  });
  await t.step("the worker of an embedded stack does not say that it cannot listen", () => {
    const events = platform.logLines.map((line) => JSON.parse(line).event);

    assert.ok(events.includes("worker.started"));
    assert.ok(!events.includes("worker.not_listening"));
  });
});
