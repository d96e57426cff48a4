/** What can be said about a Markdown document without understanding it. */
export interface MarkdownDigest {
  /** The first heading; the file's name when there is none. */
  readonly title: string;
  /** All headings below the title, in order. */
  readonly headings: readonly string[];
  /** Words of the whole text, code included. */
  readonly words: number;
  /** The first sentence of running text; empty when there is none. */
  readonly first_sentence: string;
}

const MAX_SENTENCE_CHARS = 300;

/** Computes a document's digest from its text. */
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

/** Headings, tables, images and HTML are not running text; lists and quotes are. */
function firstSentence(prose: string): string {
  const paragraph = prose.split(/\n\s*\n/).map((block) => block.trim())
    .find((block) => /^[^#|<!\s]/.test(block) && !/^([-*_]\s*){3,}$/.test(block)) ?? "";
  const running = plain(paragraph.replace(/^(?:[>*+-]|\d+\.)\s+/gm, "").replace(/\s+/g, " "));
  const sentence = /^.+?[.!?…](?=\s|$)/.exec(running)?.[0] ?? running;
  return sentence.slice(0, MAX_SENTENCE_CHARS);
}

/** Text without the signs for links and emphasis. */
function plain(markdown: string): string {
  return markdown.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*`]/g, "").trim();
}

function fileName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}
