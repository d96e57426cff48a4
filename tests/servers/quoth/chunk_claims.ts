import assert from "node:assert/strict";
import { scanFences } from "../../../lab/bench/scan_fences.ts";
import type {
  Chunk,
  SplitDocument,
} from "../../../shared/servers/quoth/markdown/split_markdown.ts";

/**
 * Walks through the source and consumes the text of each chunk in order: no text may be
 * omitted, repeated or changed, and each chunk must name its lines. Only a
 * fence's opening, a table's head and a fence's end may be repeated in a chunk.
 *
 * @param bodyStart Where the text after the front matter begins.
 */
export function assertCoversOnce(source: string, { chunks }: SplitDocument, bodyStart = 0): void {
  let at = bodyStart;
  for (const chunk of chunks) {
    at = skipBlanks(source, at);
    const part = takenFrom(source, at, chunk);
    assert.equal(chunk.startLine, lineAt(source, at), describe("first line", chunk));
    at += part.length;
    assert.equal(chunk.endLine, lineAt(source, at - 1), describe("last line", chunk));
  }
  assert.equal(source.slice(at).trim(), "", "The end of the document is in no chunk");
}

/** Asserts that no chunk has an unclosed fence, or exceeds its size by more than a tenth. */
export function assertWholeAndSmall({ chunks }: SplitDocument, maxTokens: number): void {
  for (const chunk of chunks) {
    assert.ok(!scanFences(chunk.content).isOpen, describe("open fence", chunk));
    assert.ok(chunk.tokenCount <= maxTokens * 1.1, describe("size", chunk));
    assert.notEqual(chunk.content.trim(), "", describe("emptiness", chunk));
  }
}

/**
 * Asserts that every chunk's path leads to the innermost heading above all of its text and empty
 * headings.
 */
export function assertPaths(source: string, { title, chunks }: SplitDocument): void {
  const paths = pathsByLine(source, title);
  for (const chunk of chunks) {
    const own = paths.slice(chunk.startLine - 1, chunk.endLine).filter(({ isBlank }) => !isBlank);
    const expected = own
      .filter(({ isHeading, trail }, index) =>
        !isHeading || own[index + 1] === undefined || !isWithin(own[index + 1]?.trail ?? [], trail)
      )
      .map(({ path }) => path)
      .reduce(commonStart);
    assert.deepEqual(chunk.headingPath, expected, describe("path", chunk));
    assert.ok(chunk.embeddedText.endsWith(`\n\n${chunk.content}`), describe("text", chunk));
  }
}

/** The chunk's text at this place of the source, without repeated lines. */
function takenFrom(source: string, at: number, chunk: Chunk): string {
  const lines = chunk.content.split("\n");
  const isFence = scanFences(lines[0] ?? "").isOpen;
  const isTable = /^[\s>|:-]+$/.test(lines[1] ?? "");
  const heads = [0, ...(isFence ? [1] : []), ...(isTable ? [2] : [])];
  const tails = [0, ...(/^[\s>]*(`{3,}|~{3,})$/.test(lines.at(-1) ?? "") ? [1] : [])];
  for (const head of heads) {
    for (const tail of tails) {
      const part = lines.slice(head, lines.length - tail).join("\n").trimStart().trimEnd();
      if (part !== "" && source.startsWith(part, at)) return part;
    }
  }
  assert.fail(`${describe("text", chunk)} does not follow in the source at ${at}`);
}

interface LinePath {
  readonly path: readonly string[];
  /** The lines of the headings. */
  readonly trail: readonly number[];
  readonly isHeading: boolean;
  readonly isBlank: boolean;
}

/** The heading path of each line, from headings with `#` outside of fences. */
function pathsByLine(source: string, title: string): LinePath[] {
  const lines = source.split("\n");
  const fenced = new Set(
    scanFences(source).fences.flatMap(({ startLine, endLine }) =>
      Array.from({ length: endLine - startLine + 1 }, (_, index) => startLine + index - 1)
    ),
  );
  let open: { readonly level: number; readonly text: string; readonly index: number }[] = [];
  return lines.map((line, index) => {
    const heading = fenced.has(index) ? null : /^(#{1,6}) (.*)$/.exec(line);
    if (heading !== null) {
      const level = heading[1]?.length ?? 1;
      const text = heading[2] ?? "";
      open = [...open.filter((outer) => outer.level < level), { level, text, index }];
    }
    const path = open.filter(({ level, text }) => level > 1 || text !== title)
      .map(({ text }) => text);
    return {
      path: [title, ...path],
      trail: open.map((outer) => outer.index),
      isHeading: heading !== null,
      isBlank: line.trim() === "",
    };
  });
}

function isWithin(trail: readonly number[], outer: readonly number[]): boolean {
  return outer.every((line, index) => trail[index] === line);
}

function commonStart(one: readonly string[], other: readonly string[]): readonly string[] {
  const length = one.findIndex((text, index) => other[index] !== text);
  return length < 0 ? one : one.slice(0, length);
}

function skipBlanks(source: string, at: number): number {
  return at + (/^\s*/.exec(source.slice(at))?.[0].length ?? 0);
}

function lineAt(source: string, at: number): number {
  return source.slice(0, at).split("\n").length;
}

function describe(what: string, chunk: Chunk): string {
  return `The ${what} of chunk ${chunk.index} (lines ${chunk.startLine} to ${chunk.endLine}, ` +
    `${chunk.tokenCount} tokens): ${JSON.stringify(chunk.content.slice(0, 200))}`;
}
