import { splitMarkdown } from "../../shared/servers/quoth/markdown/split_markdown.ts";
import { estimateTextTokens } from "../../shared/servers/quoth/markdown/token_meter.ts";
import { type BenchResult, judge, percentile } from "./bench_result.ts";
import { readReferenceFiles, type ReferenceFile } from "./reference_files.ts";
import { scanFences } from "./scan_fences.ts";

/** Longer code examples need not stay whole in a chunk. */
const MAX_FENCE_TOKENS = 430;

/** The windows of a large embedder and of MiniLM, with the maximum share of cut fences. */
const WINDOWS = [
  { maxTokens: 480, maxCutShare: 0.001 },
  { maxTokens: 220, maxCutShare: 0.02 },
];

/** Measures the splitter on the reference corpus: chunk sizes, cut fences, speed. */
export async function benchSplitter(): Promise<BenchResult> {
  const files = await readReferenceFiles();
  if (files === null) {
    throw new Error("Cannot run the benchmark: the folder ../shared/data/quoth is missing");
  }
  const figures: Record<string, number> = { files: files.length };
  const targets: Record<string, { readonly max: number }> = {};
  for (const { maxTokens, maxCutShare } of WINDOWS) {
    for (const [name, value] of Object.entries(await measure(files, maxTokens))) {
      figures[`${name}_at_${maxTokens}`] = value;
    }
    targets[`fences_cut_share_at_${maxTokens}`] = { max: maxCutShare };
    targets[`chunks_unbalanced_at_${maxTokens}`] = { max: 0 };
    targets[`tokens_max_at_${maxTokens}`] = { max: maxTokens * 1.1 };
  }
  figures.megabyte_ms = await measureMegabyte(files);
  targets.megabyte_ms = { max: 1000 };
  return judge("splitter", figures, targets);
}

/** Measures one file with a million characters. */
async function measureMegabyte(files: readonly ReferenceFile[]): Promise<number> {
  const text = files.map(({ content }) => content).join("\n\n").slice(0, 1_000_000);
  const startedAt = performance.now();
  await splitMarkdown(text, { filePath: "large.md", maxTokens: 220 });
  return Math.round(performance.now() - startedAt);
}

async function measure(
  files: readonly ReferenceFile[],
  maxTokens: number,
): Promise<Record<string, number>> {
  const startedAt = performance.now();
  const documents = await Promise.all(
    files.map(({ path, content }) => splitMarkdown(content, { filePath: path, maxTokens })),
  );
  const durationMs = performance.now() - startedAt;
  const chunks = documents.flatMap((document) => document.chunks);
  const tokens = chunks.map(({ tokenCount }) => tokenCount);
  const fences = files.flatMap(({ content }, index) => {
    const lines = content.split("\n");
    return scanFences(content).fences
      .filter(({ startLine, endLine }) =>
        estimateTextTokens(lines.slice(startLine - 1, endLine).join("\n")) <= MAX_FENCE_TOKENS
      )
      .map(({ startLine, endLine }) =>
        (documents[index]?.chunks ?? [])
          .some((chunk) => chunk.startLine <= startLine && chunk.endLine >= endLine)
      );
  });
  const cut = fences.filter((isWhole) => !isWhole).length;
  return {
    chunks: chunks.length,
    tokens_p50: percentile(tokens, 0.5),
    tokens_p95: percentile(tokens, 0.95),
    tokens_max: Math.max(...tokens),
    fences: fences.length,
    fences_cut: cut,
    fences_cut_share: Math.round(cut / fences.length * 10_000) / 10_000,
    chunks_unbalanced: chunks.filter(({ content }) => scanFences(content).isOpen).length,
    files_per_second: Math.round(files.length / durationMs * 1000),
  };
}
