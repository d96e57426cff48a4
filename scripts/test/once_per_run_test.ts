import assert from "node:assert/strict";
import { join } from "node:path";
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
