import type { JsonObject } from "../../../platform/values/json.ts";
import type { Block } from "./block.ts";
import { missingFenceEnd } from "./cut_block.ts";
import { DocumentLines } from "./document_lines.ts";
import { readFrontMatter } from "./front_matter.ts";
import { normalizeSource } from "./normalize_source.ts";
import { toOutline } from "./outline.ts";
import { parseBlocks, tile } from "./parse_blocks.ts";
import type { Piece, Splitting } from "./piece.ts";
import { splitSections } from "./split_sections.ts";
import { estimateTextTokens, TokenMeter } from "./token_meter.ts";
import { sha256Hex } from "../../../platform/values/sha256_hex.ts";
import { beginningOf } from "../../../platform/values/beginning_of.ts";

/**
 * Part of every hash: a new number makes the next check of a project's branch split and embed all
 * of its documents again.
 */
export const CHUNKER_VERSION = 1;

/** Smaller chunks could not contain a table's head and a row. */
const MIN_MAX_TOKENS = 64;

/** A part of a document that is indexed and found as a unit. */
export interface Chunk {
  /** Its place in the document, from 0. */
  readonly index: number;
  /** Texts from the document's title down to the innermost heading that contains all of it. */
  readonly headingPath: readonly string[];
  /** Of that heading, as `#anchor` in a link; null above the first heading. */
  readonly anchor: string | null;
  /** 1-based, inclusive, in the original file including front matter. */
  readonly startLine: number;
  readonly endLine: number;
  /**
   * Verbatim source with LF line ends. A part of a long fence or table repeats its opening or head,
   * and a fence is closed at the end.
   */
  readonly content: string;
  /** What is embedded: the breadcrumb, a blank line, the content. */
  readonly embeddedText: string;
  /** SHA-256 of chunker version, breadcrumb and content, in hex. */
  readonly hash: string;
  /** Estimate for the content. */
  readonly tokenCount: number;
}

/** A document for the index. */
export interface SplitDocument {
  /** The front matter's title, otherwise the first heading, otherwise the file's name. */
  readonly title: string;
  readonly frontMatter: JsonObject;
  /**
   * Equal checksums mean equal chunks with equal lines: a change of front matter (a new date) has
   * no effect unless it changes the title or moves the body.
   */
  readonly bodyChecksum: string;
  readonly chunks: readonly Chunk[];
}

/** The document's path, and its embedder's limit. */
export interface SplitOptions {
  readonly filePath: string;
  /** Maximum of a chunk's content; complete code examples and tables may exceed it by a tenth. */
  readonly maxTokens: number;
}

/**
 * Splits Markdown into chunks by level-two headings, longer sections by lower headings, and then by
 * blocks. Fences and tables are split only if they are too long themselves, and each part is then
 * valid Markdown. Any text is accepted.
 *
 * @throws RangeError if `maxTokens` is below 64.
 */
export async function splitMarkdown(
  source: string,
  { filePath, maxTokens }: SplitOptions,
): Promise<SplitDocument> {
  if (!(maxTokens >= MIN_MAX_TOKENS)) {
    throw new RangeError(`Cannot split into ${maxTokens} tokens: at least ${MIN_MAX_TOKENS}`);
  }
  const text = normalizeSource(source);
  const { data: frontMatter, bodyStart } = await readFrontMatter(text);
  const linesBefore = text.slice(0, bodyStart).split("\n").length - 1;
  const body = text.slice(bodyStart);
  const { lines, blocks } = await parseWhole(body);
  const title = documentTitle(frontMatter, blocks, filePath);
  const splitting = { lines, meter: new TokenMeter(lines.text), maxTokens };
  const pieces = splitSections(toOutline(blocks, title), splitting);
  const { count } = lines.text === body ? lines : new DocumentLines(body);
  const place = { linesBefore, lastLine: linesBefore + count };
  return {
    title,
    frontMatter,
    bodyChecksum: hashOf(CHUNKER_VERSION, maxTokens, title, linesBefore, body),
    chunks: pieces.flatMap((piece) => toChunk(piece, splitting, place) ?? [])
      .map((chunk, index) => ({ index, ...chunk })),
  };
}

interface Parsed {
  readonly lines: DocumentLines;
  readonly blocks: readonly Block[];
}

/** Parses the text; an unclosed fence is closed at the end of the document. */
async function parseWhole(text: string): Promise<Parsed> {
  const parsed = await parse(text);
  const end = missingEnd(parsed);
  if (end === "") return parsed;
  const closed = await parse(text.replace(/\n?$/, end));
  return missingEnd(closed) === "" ? closed : parsed;
}

async function parse(text: string): Promise<Parsed> {
  const lines = new DocumentLines(text);
  return { lines, blocks: tile(await parseBlocks(text), 0, lines.count) };
}

function missingEnd({ lines, blocks }: Parsed): string {
  let last = blocks.at(-1);
  while (last !== undefined && last.children.length > 0) last = last.children.at(-1);
  return last === undefined ? "" : missingFenceEnd(last, lines);
}

/** The position of the body in the file. */
interface BodyPlace {
  readonly linesBefore: number;
  readonly lastLine: number;
}

/** The piece without surrounding blank lines; null if nothing is left. */
function toChunk(
  { start, end, prefix, suffix, section }: Piece,
  { lines, maxTokens }: Splitting,
  { linesBefore, lastLine }: BodyPlace,
): Omit<Chunk, "index"> | null {
  const raw = lines.text.slice(start, end);
  const skipped = /^(?:[ \t]*\n)*/.exec(raw)?.[0].length ?? 0;
  const verbatim = raw.slice(skipped).trimEnd();
  if (verbatim.trim() === "") return null;
  const content = `${prefix}${verbatim}${suffix}`;
  const breadcrumb = toBreadcrumb(section.path, maxTokens);
  return {
    headingPath: section.path,
    anchor: section.anchor,
    startLine: lineAt(start + skipped),
    endLine: lineAt(start + skipped + verbatim.length - 1),
    content,
    embeddedText: `${breadcrumb}\n\n${content}`,
    hash: hashOf(CHUNKER_VERSION, breadcrumb, content),
    tokenCount: estimateTextTokens(content),
  };

  /** An added end of a fence is not in any line of the file. */
  function lineAt(offset: number): number {
    return Math.min(linesBefore + lines.lineAt(offset) + 1, lastLine);
  }
}

function hashOf(...parts: readonly (string | number)[]): string {
  return sha256Hex(parts.join("\0"));
}

const SEPARATOR = " > ";
/** The breadcrumb's maximum share of a chunk: the rest of the embedder's window is for the text. */
const BREADCRUMB_SHARE = 1 / 6;

/**
 * The path to a chunk in one line, such as `Guide > Install > On Linux`. A path that is too long
 * loses its middle, then its end.
 */
export function toBreadcrumb(headingPath: readonly string[], maxTokens: number): string {
  const limit = Math.floor(maxTokens * BREADCRUMB_SHARE);
  const steps = [...headingPath];
  while (steps.length > 2 && estimateTextTokens(steps.join(SEPARATOR)) > limit) steps.splice(1, 1);
  const line = steps.join(SEPARATOR);
  if (estimateTextTokens(line) <= limit) return line;
  const characters = [...line];
  while (estimateTextTokens(characters.join("")) >= limit) {
    characters.length -= Math.ceil(characters.length / 10);
  }
  return `${characters.join("").trimEnd()}…`;
}

/** Longer titles are truncated: they would crowd out the text that follows. */
const MAX_TITLE_CHARS = 200;

/** Files with these names are titled after their folder. */
const FOLDER_FILES = /^(?:_?index|readme)$/i;

/** The front matter's title, otherwise the first level-one heading, otherwise the file's name. */
function documentTitle(
  frontMatter: JsonObject,
  blocks: readonly Block[],
  filePath: string,
): string {
  const { title } = frontMatter;
  const given = typeof title === "string" || typeof title === "number" ? String(title) : "";
  const heading = blocks.find((block) => block.heading?.level === 1 && block.heading.text !== "");
  const chosen = given.replace(/\s+/g, " ").trim() || (heading?.heading?.text ?? "") ||
    fileTitle(filePath);
  return beginningOf(chosen, MAX_TITLE_CHARS);
}

function fileTitle(filePath: string): string {
  const [file = "", folder] = filePath.split("/").filter((part) => part !== "").reverse();
  const name = file.replace(/(?<=.)\.[^.]*$/, "");
  return (FOLDER_FILES.test(name) ? folder : undefined) ?? (name || "Untitled");
}
