import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { jobSteps } from "./bad_input/job_steps.ts";
import { modelFailureSteps } from "./bad_input/model_failure_steps.ts";
import { modelOutputSteps } from "./bad_input/model_output_steps.ts";
import { providerSteps } from "./bad_input/provider_steps.ts";
import { concurrentSteps } from "./bad_input/step.ts";
import { toolSteps } from "./bad_input/tool_steps.ts";

Deno.test("bad input ends with a stable code, without hanging or useless retries", async (t) => {
  await using platform = await sharedPlatform();

  // At the same time, because most of them wait for the delay before a retry.
  const step = concurrentSteps(t);
  await Promise.all([
    modelFailureSteps(step, platform),
    providerSteps(step, platform),
    modelOutputSteps(step, platform),
    toolSteps(step, platform),
    jobSteps(step, platform),
  ]);
});
