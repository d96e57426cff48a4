import assert from "node:assert/strict";
import { join } from "node:path";
import { loadYaml } from "../deps.ts";
import { readEvals } from "./read_evals.ts";

Deno.test("readEvals() names the agent that was probably meant, also without any evals", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "writer.md"), "You write.");
    const yaml = await loadYaml();

    await assert.rejects(
      readEvals(folder, ["writr"], yaml),
      /has no writr\.evals\.yaml\. Did you mean writer\?/,
    );
    await assert.rejects(readEvals(folder, ["writer"], yaml), /has no writer\.evals\.yaml\.$/);
    await assert.rejects(readEvals(folder, [], yaml), /has none\. Write writer\.evals\.yaml/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
