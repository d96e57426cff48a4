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
  const run = (command: string) => project.run("bash", "-ec", command);
  // The runner of a workflow ends what its steps leave in the background.
  const started = await run(`${start}\njobs -p > pids`);
  try {
    assert.equal(started.code, 0, started.stdout + started.stderr);

    const passed = await run(test);
    assert.equal(passed.code, 0, passed.stdout + passed.stderr);
    assert.match(passed.stdout, /^greets by name +\| 1\/1 /m);

    await project.write("agents/greeter.script.yaml", '- output: { greeting: "Bye" }\n');
    assert.equal((await run(test)).code, 1);
  } finally {
    await run("kill $(cat pids) $(grep -oE '\"pid\":[0-9]+' dev.log | grep -oE '[0-9]+')");
    await waitFor(async () => !await exists(`${project.root}/.supaswarm/project.env`), {
      what: "the end of supaswarm dev",
    });
  }
});

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);
