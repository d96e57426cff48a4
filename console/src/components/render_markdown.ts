import MarkdownIt, { type Token } from "markdown-it";
import { laidOutJson } from "../format/json_in_text.ts";
import { withoutFences } from "../format/untrusted_text.ts";
import { sanitizeHtml } from "./sanitize_html.ts";

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: true });
markdown.disable("image");

/** Blocks with text of a direction of their own. */
const DIRECTED = new Set([
  ...["paragraph_open", "heading_open", "bullet_list_open", "ordered_list_open"],
  ...["th_open", "td_open", "blockquote_open"],
]);

/**
 * Renders Markdown from untrusted authors as safe HTML; a text that is JSON becomes a block of code.
 * Headings of the text begin at `level` and skip none, so that they continue those of the page.
 */
export function renderMarkdown(text: string, level: number): string {
  const own = withoutFences(text);
  const json = laidOutJson(own);
  if (json !== null) {
    return sanitizeHtml(`<pre><code>${markdown.utils.escapeHtml(json)}</code></pre>`);
  }
  const tokens = markdown.parse(own, {});
  const headings = tokens.filter(({ type }) => /^heading_/.test(type));
  const used = [...new Set(headings.map(({ tag }) => tag))].sort();
  for (const token of headings) token.tag = `h${Math.min(level + used.indexOf(token.tag), 6)}`;
  for (const token of tokens) {
    if (DIRECTED.has(token.type)) token.attrSet("dir", "auto");
    // The policy of the page forbids styles, and reports them also while they are sanitized.
    const alignment = /^text-align:(\w+)$/.exec(String(token.attrGet("style")))?.[1];
    const others = (token.attrs ?? []).filter(([name]) => name !== "style");
    if (alignment !== undefined) token.attrs = [...others, ["align", alignment]];
  }
  return sanitizeHtml(markdown.renderer.render(tokens, markdown.options, {}));
}

/** The plain text of Markdown in one line, for lists. */
export function markdownText(text: string): string {
  return markdown.parse(withoutFences(text), {})
    .flatMap(({ type, content, children }) =>
      type === "inline" ? (children ?? []).map(wordsOf) : [content, " "]
    )
    .join("").replace(/\s+/g, " ").trim();
}

function wordsOf({ type, content }: Token): string {
  return type === "softbreak" || type === "hardbreak" ? " " : content;
}
