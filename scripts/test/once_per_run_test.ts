import assert from "node:assert/strict";
import { basename, dirname, join } from "node:path";
import { createRunFolder, oncePerRun } from "./once_per_run.ts";

Deno.test("what several processes need in a run is made once, and again after a failure", async () => {
  await using run = await createRunFolder();
  const [[name, path] = ["", ""]] = Object.entries(run.env);
  const outer = Deno.env.get(name);
  Deno.env.set(name, path);
  try {
    await assert.rejects(oncePerRun("text", () => Promise.reject(new Error("no space"))));
    let count = 0;
    const make = async (folder: string) => {
      await Deno.writeTextFile(join(folder, "text"), `made ${++count}`);
    };

    const [first, second] = await Promise.all([oncePerRun("text", make), oncePerRun("text", make)]);

    assert.equal(first.folder, second.folder);
    await first[Symbol.asyncDispose]();
    assert.equal(await Deno.readTextFile(join(second.folder, "text")), "made 1");
  } finally {
    if (outer === undefined) Deno.env.delete(name);
    else Deno.env.set(name, outer);
  }
});

Deno.test("a run creates temporary files in its folder, and removes what a killed run left behind", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const { pid, status } = new Deno.Command("true").spawn();
    await status;
    await Deno.mkdir(join(dir, `supaswarm-run-${pid}-killed`));
    await Deno.mkdir(join(dir, `supaswarm-run-${Deno.ppid}-running`));
    const entries = async () => (await Array.fromAsync(Deno.readDir(dir))).map(({ name }) => name);

    const run = await createRunFolder(dir);

    assert.equal(dirname(run.env.TMPDIR ?? ""), dir);
    const left = [basename(run.env.TMPDIR ?? ""), `supaswarm-run-${Deno.ppid}-running`];
    assert.deepEqual((await entries()).sort(), left.sort());
    await run[Symbol.asyncDispose]();
    assert.deepEqual(await entries(), [`supaswarm-run-${Deno.ppid}-running`]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
