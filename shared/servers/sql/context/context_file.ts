import type { ErrorFix, QueryPattern, Remark, SqlContext } from "./sql_context.ts";

/** Headings of `supabase-sql-context.md`, in their order. */
export const TITLE = "Supabase SQL Context Learning";
export const SECTIONS = {
  overview: "Database Schema Overview",
  patterns: "Successful Query Patterns",
  fixes: "Common Error Patterns & Fixes",
  insights: "Query Optimization Insights",
  modelNotes: "Model Performance Notes",
} as const;

/** Markers around the generated part, below the overview's heading. */
export const GENERATED_BEGIN = "<!-- Auto-generated section -->";
export const GENERATED_END = "<!-- End of auto-generated section -->";

/** Maximum length: the file is part of every prompt. */
const MAX_CHARACTERS = 200_000;

/** A format error in the file, with its line. */
export class ContextFileError extends Error {
  override readonly name = "ContextFileError";

  /** @param line Counted from 1. */
  constructor(message: string, readonly line: number) {
    super(`line ${line}: ${message}`);
  }
}

/** A query of the file with its first line number. */
export interface LocatedPattern extends QueryPattern {
  readonly line: number;
}

/** The content of the file, with the line numbers of its queries. */
export interface ContextFile extends Omit<SqlContext, "patterns"> {
  readonly patterns: readonly LocatedPattern[];
}

interface Line {
  readonly text: string;
  readonly number: number;
  /** Inside a fence, or a fence itself: never a heading. */
  readonly isCode: boolean;
}

interface Block {
  readonly title: string;
  readonly line: number;
  readonly lines: readonly Line[];
}

/**
 * Reads `supabase-sql-context.md`.
 *
 * @throws ContextFileError for a section that is unknown, missing or repeated, an unclosed fence, a
 * pattern without SQL, and an error without a fix.
 */
export function readContextFile(text: string): ContextFile {
  if (text.length > MAX_CHARACTERS) {
    throw new ContextFileError(`the file is longer than ${MAX_CHARACTERS} characters`, 1);
  }
  const lines = withFences(withoutProposals(text));
  const [before, ...sections] = split(lines, "## ");
  assertTitle(before);
  const bySection = new Map<string, Block>();
  for (const section of sections) {
    const known = Object.values(SECTIONS).find((name) => name === section.title);
    if (known === undefined) {
      const names = Object.values(SECTIONS).join("', '");
      throw new ContextFileError(
        `unknown section '${section.title}'; known sections are '${names}'`,
        section.line,
      );
    }
    if (bySection.has(known)) {
      throw new ContextFileError(`the section '${known}' is repeated`, section.line);
    }
    bySection.set(known, section);
  }
  const linesOf = (name: string) => bySection.get(name)?.lines ?? [];
  return {
    overview: plainText(withoutGenerated(linesOf(SECTIONS.overview))),
    patterns: blocksOf(linesOf(SECTIONS.patterns)).flatMap(patternsOf),
    fixes: blocksOf(linesOf(SECTIONS.fixes)).flatMap(fixesOf),
    insights: blocksOf(linesOf(SECTIONS.insights)).flatMap(remarkOf),
    modelNotes: blocksOf(linesOf(SECTIONS.modelNotes)).flatMap(remarkOf),
  };
}

/** Proposals that are not accepted yet are inside HTML comments. Every line keeps its number. */
function withoutProposals(text: string): string {
  return text.replace(/<!-- Proposed[\s\S]*?-->/g, (remark) => remark.replace(/[^\n]/g, ""));
}

function withFences(text: string): Line[] {
  let openedAt: { readonly line: number; readonly mark: string } | null = null;
  const lines = text.split(/\r?\n/).map((text, index): Line => {
    const number = index + 1;
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1];
    if (mark === undefined) return { text, number, isCode: openedAt !== null };
    if (openedAt === null) openedAt = { line: number, mark };
    else if (mark.startsWith(openedAt.mark)) openedAt = null;
    return { text, number, isCode: true };
  });
  // TypeScript does not see the callback's assignment.
  const open = openedAt as { readonly line: number } | null;
  if (open !== null) throw new ContextFileError("the code fence is never closed", open.line);
  return lines;
}

/** The part before the first heading of this level, and one part for each heading. */
function split(lines: readonly Line[], mark: "## " | "### "): Block[] {
  const blocks: { title: string; line: number; lines: Line[] }[] = [
    { title: "", line: lines[0]?.number ?? 1, lines: [] },
  ];
  for (const line of lines) {
    if (!line.isCode && line.text.startsWith(mark)) {
      blocks.push({ title: line.text.slice(mark.length).trim(), line: line.number, lines: [] });
    } else {
      blocks.at(-1)?.lines.push(line);
    }
  }
  return blocks;
}

function assertTitle(before: Block | undefined): void {
  const first = before?.lines.find(({ text }) => text.trim() !== "");
  if (first?.text.trim() === `# ${TITLE}`) return;
  throw new ContextFileError(`the file does not begin with '# ${TITLE}'`, first?.number ?? 1);
}

function blocksOf(lines: readonly Line[]): Block[] {
  return split(lines, "### ").filter(({ title, lines }) => title !== "" || plainText(lines) !== "");
}

function withoutGenerated(lines: readonly Line[]): Line[] {
  const texts = lines.map(({ text }) => text.trim());
  const begin = texts.indexOf(GENERATED_BEGIN);
  const end = texts.indexOf(GENERATED_END);
  if (begin < 0) return [...lines];
  if (end >= 0) return [...lines.slice(0, begin), ...lines.slice(end + 1)];
  const open = lines[begin];
  if (lines.slice(begin + 1).every(({ text }) => text.trim() === "")) return lines.slice(0, begin);
  throw new ContextFileError(`'${GENERATED_END}' is missing`, open?.number ?? 1);
}

/** The text without HTML comments, such as proposals that are not accepted yet. */
function plainText(lines: readonly Line[]): string {
  return lines.map(({ text }) => text).join("\n").replace(/<!--[\s\S]*?-->/g, "").trim();
}

function patternsOf({ title, line, lines }: Block): LocatedPattern[] {
  const patterns: LocatedPattern[] = [];
  let text: string[] = [];
  let code: { readonly line: number; readonly lines: string[] } | null = null;
  for (const { text: raw, number, isCode } of lines) {
    const isFence = isCode && /^\s*(`{3,}|~{3,})/.test(raw);
    if (isFence && code === null) {
      code = { line: number + 1, lines: [] };
    } else if (isFence && code !== null) {
      const sql = code.lines.join("\n").trim();
      if (sql === "") throw new ContextFileError("the query is empty", number);
      patterns.push({ title, text: plainText(asLines(text)), sql, line: code.line });
      [text, code] = [[], null];
    } else if (code === null) text.push(raw);
    else code.lines.push(raw);
  }
  const isOnlyRemark = plainText(lines) === "" && title === "";
  if (patterns.length === 0 && !isOnlyRemark) {
    throw new ContextFileError(`the pattern '${title}' has no query in a \`\`\`sql fence`, line);
  }
  return patterns;
}

function asLines(texts: readonly string[]): Line[] {
  return texts.map((text, index) => ({ text, number: index + 1, isCode: false }));
}

function fixesOf({ title, lines }: Block): ErrorFix[] {
  const fixes: ErrorFix[] = [];
  let open: { error: string; line: number; fix: string | null } | null = null;
  const close = () => {
    if (open === null) return;
    if (open.fix === null || open.fix.trim() === "") {
      throw new ContextFileError("the **Error** has no **Fix**", open.line);
    }
    fixes.push({ title, error: open.error, fix: open.fix.trim() });
    open = null;
  };
  for (const { text, number } of lines.flatMap(onOwnLines)) {
    const error = /^\*\*Error\*\*:\s*(.*)$/.exec(text)?.[1];
    const fix = /^\*\*Fix\*\*:\s*(.*)$/.exec(text)?.[1];
    if (error !== undefined) {
      close();
      open = { error: error.replace(/^`|`$/g, "").trim(), line: number, fix: null };
    } else if (fix !== undefined) {
      if (open === null) throw new ContextFileError("the **Fix** has no **Error**", number);
      open.fix = fix;
    } else if (open !== null && open.fix !== null) {
      open.fix += `\n${text}`;
    }
  }
  close();
  return fixes;
}

/** Formatters may join an **Error** and its **Fix** into one line. */
function onOwnLines({ text, ...line }: Line): Line[] {
  return text.split(/(?<=\S)\s+(?=\*\*Fix\*\*:)/).map((text) => ({ ...line, text }));
}

function remarkOf({ title, lines }: Block): Remark[] {
  const text = plainText(lines);
  return text === "" ? [] : [{ title, text }];
}
