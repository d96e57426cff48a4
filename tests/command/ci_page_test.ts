import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
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
    project.run("bash", "-ec", `export MODEL_PORT=${port}; ${command}`);
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
    await run("kill $(cat pids) $(grep -oE '\"pid\":[0-9]+' dev.log | grep -oE '[0-9]+')");
    await waitFor(async () => !await exists(`${project.root}/.supaswarm/project.env`), {
      what: "the end of supaswarm dev",
    });
  }
});

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return listener.addr.port;
}
