/** Facts about a Markdown document that need no understanding of its content. */
export interface MarkdownDigest {
  /** The first heading, or the file name if there is none. */
  readonly title: string;
  /** All headings below the title, in order. */
  readonly headings: readonly string[];
  /** The number of words of the whole text, including code. */
  readonly words: number;
  /** The first sentence of prose, or empty if there is none. */
  readonly first_sentence: string;
}

const MAX_SENTENCE_CHARS = 300;

/** Computes the digest of a document. */
export function digestMarkdown(path: string, text: string): MarkdownDigest {
  const prose = withoutFrontMatter(text).replace(/^(```|~~~)[\s\S]*?^\1.*$/gm, "");
  const headings = [...prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(([, title = ""]) =>
    plain(title)
  );
  const [title = fileName(path), ...rest] = headings;
  return {
    title,
    headings: rest,
    words: text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)?.length ?? 0,
    first_sentence: firstSentence(prose),
  };
}

function withoutFrontMatter(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(/^---\n[\s\S]*?\n---\n/, "");
}

/** Returns the first sentence outside of headings, tables, images and HTML. */
function firstSentence(prose: string): string {
  const paragraph = prose.split(/\n\s*\n/).map((block) => block.trim())
    .find((block) => /^[^#|<!\s]/.test(block) && !/^([-*_]\s*){3,}$/.test(block)) ?? "";
  const running = plain(paragraph.replace(/^(?:[>*+-]|\d+\.)\s+/gm, "").replace(/\s+/g, " "));
  const sentence = /^.+?[.!?…](?=\s|$)/.exec(running)?.[0] ?? running;
  return sentence.slice(0, MAX_SENTENCE_CHARS);
}

/** Removes the markup of links and emphasis. */
function plain(markdown: string): string {
  return markdown.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*`]/g, "").trim();
}

function fileName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}
