import assert from "node:assert/strict";
import { readCiPage } from "../docs/workflow_steps.ts";
import { installPacked, packCommand } from "./packed_command.ts";
import { createUserProject } from "./user_project.ts";

Deno.test("the workflow's test job passes in a project of one's own, without a key, and fails with a wrong answer", async () => {
  const { files, commands } = await readCiPage();
  const [start = "", test = "", ...others] = commands("test");
  assert.deepEqual(others, []);
  await using packed = await packCommand();
  await using project = await createUserProject();
  await installPacked(project, packed);
  const added = await project.run("npx", "--no-install", "supaswarm", "init", "--yes");
  assert.equal(added.code, 0, added.stderr);
  for (const { path, text } of files) await project.write(path, text);
  const run = (command: string) =>
    project.run("bash", "-c", `export MODEL_PORT=${port}; set -e; ${command}`);
  const port = freePort();
  // The runner of a workflow ends what its steps leave in the background.
  const started = await run(`${start}\njobs -p > pids`);
  try {
    assert.equal(started.code, 0, started.stdout + started.stderr);

    const passed = await run(test);
    assert.equal(passed.code, 0, passed.stdout + passed.stderr);
    assert.match(passed.stdout, /the greeter greets by name/);

    const file = files.find(({ path }) => path === "ci/greeter.test.mjs");
    await project.write(file?.path ?? "", (file?.text ?? "").replace('"Hello, Ada"', '"Bye"'));
    assert.notEqual((await run(test)).code, 0);
  } finally {
    const pids = await Deno.readTextFile(`${project.root}/pids`).catch(() => "");
    for (const pid of pids.split("\n").filter(Boolean)) Deno.kill(Number(pid), "SIGTERM");
    await project.run("bash", "-c", "while [ -e .supaswarm/project.env ]; do sleep 0.1; done");
  }
});

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return listener.addr.port;
}
