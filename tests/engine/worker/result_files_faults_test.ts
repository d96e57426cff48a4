import assert from "node:assert/strict";
import { toolNamed } from "../../../shared/engine/agent/agent_states.ts";
import { abandon, startDoomedWorker } from "./dying_store.ts";
import { answered, ask, Swarm, type TestWorker } from "./swarm_fixture.ts";

const PNG = btoa("\x89PNG\r\n\x1a\npixels");
/** The writes of a run that calls one tool and answers. */
const WRITES = 3;

Deno.test("a file that a tool returned is stored once, whenever its worker dies", async (t) => {
  const swarm = await Swarm.open();
  const doomed: TestWorker[] = [];
  const parts = {
    tools: [toolNamed("draw", { isReadOnly: true })],
    model: ({ prompt }: { prompt: { messages: readonly { role: string }[] } }) =>
      prompt.messages.some(({ role }) => role === "tool")
        ? { text: "Drawn" }
        : { calls: [ask("draw")] },
    callTool: () =>
      answered("", { content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
  };
  try {
    for (let fatal = 0; fatal < WRITES; fatal++) {
      await t.step(`a worker that dies at write ${fatal + 1}`, async () => {
        const first = startDoomedWorker(swarm, parts, fatal);
        doomed.push(first);
        const taskId = await swarm.createTask("Draw");
        await first.died;
        await swarm.endLease(taskId);
        const rescuer = swarm.startWorker(parts);
        const task = await swarm.until(taskId, "completed");
        await rescuer.stop();

        const path = `${taskId}/${taskId}/_step-2-1.png`;
        assert.deepEqual([task.output, task.storage_paths], ["Drawn", [path]]);
        const stored = [...first.artifacts, ...rescuer.artifacts];
        assert.deepEqual([...new Set(stored.map((artifact) => artifact.path))], [path]);
        assert.ok(stored.length <= 2, "a repeated call replaces its own file");
      });
    }
  } finally {
    await abandon(doomed);
    await swarm.close();
  }
});
