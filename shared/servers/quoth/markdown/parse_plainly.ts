import type { Block } from "./block.ts";
import type { HeadingReader } from "./read_heading.ts";

/** Headings and fences beyond these limits are treated as text. */
const MAX_MARKED = 3_000;
/** Lines after which a text is divided, so that splitting each part is fast. */
const MAX_TEXT_LINES = 200;

const FENCE = /^ {0,3}(`{3,32}|~{3,32})([^\n]*)$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S[^\n]*)$/;
const CLOSING_MARKS = /[ \t]+#+[ \t]*$/;
const MAX_HEADING_CHARS = 1_000;

/**
 * Parses only the headings, fences and blank lines of Markdown, in a fraction of the full parser's
 * time: for documents with so many lines that full parsing would block the isolate. Tables, lists
 * and quotes are treated as text.
 */
export function parsePlainly(text: string, readHeading: HeadingReader): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  let markedCount = 0;
  let line = 0;
  while (line < lines.length) {
    const source = lines[line] ?? "";
    if (source.trim() === "") {
      line++;
      continue;
    }
    const start = source.slice(0, MAX_HEADING_CHARS);
    const isMarked = markedCount < MAX_MARKED;
    const fence = isMarked ? FENCE.exec(start) : null;
    const heading = isMarked ? HEADING.exec(start) : null;
    if (fence !== null && !isInlineCode(fence)) line = addFence(line, fence[1] ?? "");
    else if (heading !== null) {
      markedCount++;
      const [, marks = "", title = ""] = heading;
      blocks.push({
        ...blockOf("heading", line, line + 1),
        heading: readHeading(marks.length, title.replace(CLOSING_MARKS, "")),
      });
      line++;
    } else line = addText(line);
  }
  return blocks;

  function addFence(start: number, marker: string): number {
    markedCount++;
    let endLine = start + 1;
    while (endLine < lines.length && !isClosing(lines[endLine] ?? "", marker)) endLine++;
    endLine = Math.min(endLine + 1, lines.length);
    blocks.push({ ...blockOf("fence", start, endLine), fenceMarker: marker });
    return endLine;
  }

  function addText(start: number): number {
    let end = start + 1;
    while (end < lines.length && end - start < MAX_TEXT_LINES && isText(lines[end] ?? "")) end++;
    blocks.push(blockOf("text", start, end));
    return end;
  }

  /** Blank lines do not end a text here, because there would be too many texts. */
  function isText(source: string): boolean {
    if (markedCount === MAX_MARKED) return true;
    const start = source.slice(0, MAX_HEADING_CHARS);
    return !FENCE.test(start) && !HEADING.test(start);
  }
}

/** An opening fence of backticks has no backticks after its marker. */
function isInlineCode([, marker = "", info = ""]: RegExpExecArray): boolean {
  return marker.startsWith("`") && info.includes("`");
}

function isClosing(source: string, marker: string): boolean {
  const trimmed = source.trim();
  return trimmed.length >= marker.length && trimmed.length <= 64 &&
    trimmed === marker.charAt(0).repeat(trimmed.length);
}

function blockOf(kind: Block["kind"], startLine: number, endLine: number): Block {
  return { kind, startLine, endLine, textEndLine: endLine, children: [] };
}
