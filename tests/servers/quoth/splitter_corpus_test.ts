import assert from "node:assert/strict";
import { benchSplitter } from "../../../lab/bench/splitter.ts";
import { readReferenceFiles } from "../../../lab/bench/reference_files.ts";
import { writeLine } from "../../../scripts/terminal.ts";
import { splitMarkdown } from "../../../shared/servers/quoth/markdown/split_markdown.ts";
import { assertCoversOnce, assertWholeAndSmall } from "./chunk_claims.ts";

const files = await readReferenceFiles();
if (files === null) writeLine("skipped: there is no ../shared/data/quoth beside the checkout");

for (const maxTokens of [480, 220, 64]) {
  Deno.test({
    name:
      `460 real files are split into complete chunks of ${maxTokens} tokens that cover each once`,
    ignore: files === null,
    fn: async () => {
      for (const { path, content } of files ?? []) {
        const options = { filePath: path, maxTokens };
        const document = await splitMarkdown(content, options);

        const frontMatter = /^---\n[^]*?\n---\n/.exec(content)?.[0].length ?? 0;
        try {
          assertCoversOnce(content, document, frontMatter);
          assertWholeAndSmall(document, maxTokens);
          if (maxTokens === 480) {
            const windows = await splitMarkdown(content.replaceAll("\n", "\r\n"), options);
            assert.deepEqual(windows, document);
          }
        } catch (cause) {
          throw new Error(`${path} is split wrongly`, { cause });
        }
      }
    },
  });
}

Deno.test({
  name: "the splitter keeps code examples of real files complete, as measured",
  ignore: files === null,
  fn: async () => {
    const { figures } = await benchSplitter();

    assert.equal(figures.fences_cut_at_480, 0);
    assert.ok((figures.fences_cut_share_at_220 ?? 1) < 0.02);
    assert.equal(figures.chunks_unbalanced_at_480, 0);
    assert.equal(figures.chunks_unbalanced_at_220, 0);
  },
});
