import type { Heading } from "./block.ts";
import { beginningOf } from "../../../platform/values/beginning_of.ts";

/** Limit for headings, because markup in long ones can be slow to parse. */
const MAX_HEADING_CHARS = 300;

/** Reads headings in document order, because equal ones are numbered. */
export type HeadingReader = (level: number, markdown: string) => Heading;

/** Only headings with one of these characters can differ from their source. */
const MARKUP = /[\\`*_~[\]<>&!\n]|[ \t]{2}/;

const CUSTOM_ID = /[ \t]*\{#([^\s{}]+)\}[ \t]*$/;

/** A reader for one document. */
export async function createHeadingReader(): Promise<HeadingReader> {
  const [{ default: MarkdownIt }, { default: GithubSlugger }] = await Promise.all([
    import("../../../vendor/markdown_it.js"),
    import("../../../vendor/github_slugger.js"),
  ]);
  const parser = new MarkdownIt({ html: true });
  const slugger = new GithubSlugger();
  return (level, markdown) => {
    const source = beginningOf(markdown, MAX_HEADING_CHARS);
    const customId = CUSTOM_ID.exec(source)?.[1];
    const inline = source.replace(CUSTOM_ID, "");
    const text = MARKUP.test(inline) ? plainText(parser.parseInline(inline, {})) : inline.trim();
    return { level, text, anchor: customId ?? slugger.slug(text) };
  };
}

/** The displayed text of inline Markdown; HTML tags and components are invisible. */
function plainText(
  tokens: readonly {
    readonly type: string;
    readonly content: string;
    readonly children: readonly { readonly type: string; readonly content: string }[] | null;
  }[],
): string {
  return tokens.flatMap((token) => token.children ?? [])
    .map(({ type, content }) => {
      if (type === "softbreak" || type === "hardbreak") return " ";
      return type === "html_inline" ? "" : content;
    })
    .join("")
    .replace(/\s+/g, " ")
    .trim();
}
