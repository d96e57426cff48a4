import { hashWords } from "../../../shared/servers/quoth/embedders/lexical_hash.ts";
import { toBreadcrumb } from "../../../shared/servers/quoth/markdown/split_markdown.ts";
import {
  type Chunk,
  splitMarkdown,
} from "../../../shared/servers/quoth/markdown/split_markdown.ts";
import type { ReferenceFile } from "../reference_files.ts";

const MAX_TOKENS = 480;
const DIMENSIONS = 768;
/** Large enough that halves of neighboring chunks are from different documents. */
const STRIDE = 7_919;

/** A chunk with its vector, as after indexing. */
export interface VariedChunk {
  readonly title: string;
  readonly headingPath: readonly string[];
  readonly content: string;
  readonly vector: readonly number[];
}

/**
 * Creates up to millions of chunks from the reference documents: each has the first half of one
 * real chunk, with its headings, and the second half of another. So word frequencies are those of
 * documentation, vectors are clustered by subject, and almost no two chunks are equal.
 *
 * @returns A function that creates the chunk of a number from 0, always the same one.
 */
export async function varyChunks(
  files: readonly ReferenceFile[],
): Promise<(number: number) => VariedChunk> {
  const documents = await Promise.all(
    files.map(({ path, content }) =>
      splitMarkdown(content, { filePath: path, maxTokens: MAX_TOKENS })
    ),
  );
  const real = documents.flatMap(({ title, chunks }) => chunks.map((chunk) => ({ title, chunk })));
  const pick = (number: number) => {
    const picked = real[number % real.length];
    if (picked === undefined) {
      throw new Error("Cannot vary chunks: the reference documents have none");
    }
    return picked;
  };
  return (number) => {
    const { title, chunk } = pick(number);
    const other = pick(number * STRIDE + Math.floor(number / real.length)).chunk;
    const content = [...halfOf(chunk, 0), ...halfOf(other, 1)].join("\n");
    const { headingPath } = chunk;
    const text = `${toBreadcrumb(headingPath, MAX_TOKENS)}\n\n${content}`;
    return { title, headingPath, content, vector: hashWords(text, DIMENSIONS) };
  };
}

function halfOf({ content }: Chunk, half: 0 | 1): readonly string[] {
  const lines = content.split("\n");
  const middle = Math.ceil(lines.length / 2);
  return half === 0 ? lines.slice(0, middle) : lines.slice(middle);
}
