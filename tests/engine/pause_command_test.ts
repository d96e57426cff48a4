import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { runScript } from "../run_script.ts";
import { Swarm } from "./worker/swarm_fixture.ts";

const scriptOf = (name: string) =>
  fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url));

Deno.test("the commands pause, list and resume, and say what is wrong", async () => {
  const swarm = await Swarm.open();
  try {
    const run = async (name: string, ...args: string[]) => {
      const { code, stdout, stderr } = await runScript(scriptOf(name), [
        ...args,
        "--db",
        swarm.url,
      ]);
      return { code, text: stdout + stderr };
    };
    assert.match((await run("pause")).text, /Nothing is paused/);
    assert.match((await run("pause", "project")).text, /say why with --reason/);

    const paused = await run("pause", "agent", "test-reader", "--reason", "It loops", "--json");
    assert.equal(paused.code, 0, paused.text);
    const [row] = JSON.parse(paused.text);
    assert.deepEqual([row.kind, row.name, row.reason, row.by, row.running, row.waiting], [
      "agent",
      "test-reader",
      "It loops",
      "the service",
      "finish",
      0,
    ]);
    const mistyped = await run("pause", "agent", "test-raeder", "--reason", "It loops");
    assert.deepEqual([mistyped.code, /Did you mean "test-reader"/.test(mistyped.text)], [1, true]);

    assert.match((await run("resume", "agent", "test-reader")).text, /Resumed agent test-reader/);
    const again = await run("resume", "agent", "test-reader");
    assert.deepEqual([again.code, /it is not paused/.test(again.text)], [1, true]);
  } finally {
    await swarm.close();
  }
});
