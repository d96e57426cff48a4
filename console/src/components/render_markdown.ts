import MarkdownIt from "markdown-it";
import { withoutFences } from "../format/untrusted_text.ts";
import { sanitizeHtml } from "./sanitize_html.ts";

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: true });
markdown.disable("image");

/** Renders Markdown from untrusted authors as safe HTML. */
export function renderMarkdown(text: string): string {
  return sanitizeHtml(markdown.render(withoutFences(text)));
}
