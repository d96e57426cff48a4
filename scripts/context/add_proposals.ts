import {
  codeSpan,
  commentText,
  fencedText,
  withoutCommentEnd,
} from "../../shared/platform/values/markdown_text.ts";
import {
  GENERATED_BEGIN,
  GENERATED_END,
  SECTIONS,
} from "../../shared/servers/sql/context/context_file.ts";
import type { ErrorFix, QueryPattern } from "../../shared/servers/sql/context/sql_context.ts";
import type { Proposals } from "./read_proposals.ts";

/** Writes a proposed pattern in the format of the file. */
export function patternText({ title, text, sql }: QueryPattern): string {
  const remark = text === "" ? "" : `${text}\n\n`;
  return `### ${title}\n\n${remark}${fencedText(sql, "sql")}`;
}

/** Writes a proposed fix in the format of the file. */
export function fixText({ title, error, fix }: ErrorFix): string {
  return `### ${title}\n\n**Error**: ${codeSpan(error)}\n\n**Fix**: ${fix}`;
}

/**
 * Returns the file with a new schema overview, and with the proposals at the end of their sections.
 * A proposal is an HTML comment, which is ignored, until a person removes the comment markers.
 */
export function addProposals(
  file: string,
  { patterns, fixes }: Proposals,
  overview: string,
): string {
  const withOverview = replaceGenerated(file, overview);
  const withPatterns = appendTo(withOverview, SECTIONS.patterns, patterns.map(patternText));
  return appendTo(withPatterns, SECTIONS.fixes, fixes.map(fixText));
}

function replaceGenerated(file: string, overview: string): string {
  const begin = file.indexOf(GENERATED_BEGIN);
  const end = file.indexOf(GENERATED_END);
  const text = overview === "" ? "" : `\n${fencedText(withoutCommentEnd(overview), "text")}\n`;
  const generated = `${GENERATED_BEGIN}\n${text}\n${GENERATED_END}`;
  if (begin < 0) {
    const heading = `## ${SECTIONS.overview}\n`;
    return file.replace(heading, () => `${heading}\n${generated}\n`);
  }
  const rest = end < begin ? begin + GENERATED_BEGIN.length : end + GENERATED_END.length;
  return file.slice(0, begin) + generated + file.slice(rest);
}

function appendTo(file: string, section: string, texts: readonly string[]): string {
  if (texts.length === 0) return file;
  const proposals = texts.map((text) => `${commentText(`Proposed\n${text}`)}\n`).join("\n");
  const start = file.indexOf(`## ${section}\n`);
  const next = file.indexOf("\n## ", start + 1);
  if (start < 0) return `${file.trimEnd()}\n\n## ${section}\n\n${proposals}`;
  if (next < 0) return `${file.trimEnd()}\n\n${proposals}`;
  return `${file.slice(0, next).trimEnd()}\n\n${proposals}${file.slice(next)}`;
}
