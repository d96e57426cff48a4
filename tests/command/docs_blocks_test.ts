import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { type CodeBlock, codeBlocks } from "../docs/code_blocks.ts";
import { makeShims, startDocsStack } from "../docs/docs_stack.ts";
import { runBlock } from "../docs/run_block.ts";

/**
 * The pages that a new user follows, in the order in which the README names them; or those
 * after `--` on the command line.
 */
async function userPages(): Promise<readonly string[]> {
  if (Deno.args.length > 0) return Deno.args;
  const howTos: string[] = [];
  for await (const { name } of Deno.readDir(join(PROJECT_ROOT, "docs/how-to"))) {
    if (name.endsWith(".md")) howTos.push(`docs/how-to/${name}`);
  }
  return ["README.md", "docs/quickstart.md", ...howTos.sort()];
}

Deno.test("each code block of README, quickstart and how-tos runs in its order", async (t) => {
  const pages = new Map<string, CodeBlock[]>();
  for (const page of await userPages()) {
    pages.set(page, codeBlocks(page, await Deno.readTextFile(join(PROJECT_ROOT, page))));
  }
  await using stack = await startDocsStack();
  const folder = join(stack.clone.root, "..");
  const shims = await makeShims(folder);
  for (const [page, blocks] of pages) {
    await t.step(page, async () => {
      const problems: string[] = [];
      const run = { stack, shims, folder: await Deno.makeTempDir({ dir: folder }) };
      for (const block of blocks) {
        await runBlock(run, block).catch((error) => {
          const reason = error instanceof Error ? error.message : String(error);
          problems.push(`${page}:${block.line}\n${block.text}\n${reason}`);
        });
      }
      assert.equal(problems.join("\n\n"), "");
    });
  }
});
