import MarkdownIt from "markdown-it";
import { withoutFences } from "../format/untrusted_text.ts";
import { sanitizeHtml } from "./sanitize_html.ts";

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: true });
markdown.disable("image");

/** Markdown that somebody else wrote, as HTML that is safe to show. */
export function renderMarkdown(text: string): string {
  return sanitizeHtml(markdown.render(withoutFences(text)));
}
