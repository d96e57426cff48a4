import MarkdownIt, { type Token } from "markdown-it";
import { withoutFences } from "../format/untrusted_text.ts";
import { sanitizeHtml } from "./sanitize_html.ts";

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: true });
markdown.disable("image");

/** Renders Markdown from untrusted authors as safe HTML. */
export function renderMarkdown(text: string): string {
  return sanitizeHtml(markdown.render(withoutFences(text)));
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
