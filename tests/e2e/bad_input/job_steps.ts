import assert from "node:assert/strict";
import { addAgent } from "../operator.ts";
import type { Platform } from "../platform.ts";
import { call, completeWithResults } from "../script.ts";
import { errorCodes, runToEnd } from "./ended_job.ts";
import type { Step } from "./step.ts";

/** Jobs that hand off to agents that cannot do the work. */
export async function jobSteps(step: Step, platform: Platform): Promise<void> {
  const { sql } = platform;

  await step("a handoff to a missing or inactive agent is an error result", async () => {
    await addAgent(sql, { slug: "off" });
    await sql`update public.agents set is_active = false where slug = 'off'`;
    const handOff = (agent: string) => ({
      name: "create_subtask",
      arguments: { agent, input: "Go" },
    });

    const end = await runToEnd(platform, {
      slug: "lonely",
      turns: [
        { toolCalls: [handOff("nobody"), handOff("off")] },
        completeWithResults,
      ],
    });

    assert.deepEqual(errorCodes(end), ["AGENT_NOT_FOUND", "AGENT_INACTIVE"]);
  });

  await step("a subtask's failure returns to its parent, which continues", async () => {
    await addAgent(sql, { slug: "broke", provider: "openai" });

    const end = await runToEnd(platform, {
      slug: "leader",
      turns: [
        call("create_subtask", { agent: "broke", input: "Go" }),
        completeWithResults,
      ],
    });

    assert.equal(end.task.status, "completed");
    assert.match(JSON.stringify(end.task.output), /MODEL_KEY_MISSING.*failed/s);
  });
}
