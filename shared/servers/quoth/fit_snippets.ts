import { estimateTextTokens, TokenMeter } from "./markdown/token_meter.ts";

/** A text of an answer and the terms that matched it. */
export interface Snippet {
  readonly text: string;
  readonly matchedTerms: readonly string[];
}

/** Shorter snippets are useless; many hits may therefore exceed a small budget. */
const MIN_TOKENS = 12;
const MARK = "…";

/**
 * Shortens snippets until together they have at most `tokenBudget` tokens; none is dropped. Short
 * ones stay whole, long ones share the rest, each starting at its first matched line.
 */
export function fitSnippets(
  snippets: readonly Snippet[],
  tokenBudget: number | undefined,
): string[] {
  if (tokenBudget === undefined) return snippets.map(({ text }) => text);
  const sizes = snippets.map(({ text }) => estimateTextTokens(text));
  const share = fairShare(sizes, tokenBudget);
  return snippets.map((snippet, index) =>
    (sizes[index] ?? 0) <= share ? snippet.text : shorten(snippet, share)
  );
}

/** The maximum tokens per snippet that keeps the total within the budget. */
function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (size > share) return Math.max(share, MIN_TOKENS);
    left -= size;
  }
  return Infinity;
}

function shorten({ text, matchedTerms }: Snippet, maxTokens: number): string {
  const meter = new TokenMeter(text);
  // Two ellipses of one token each surround the rest.
  const room = maxTokens - 2 * estimateTextTokens(MARK);
  const start = meter.tokens(0, text.length) <= room ? 0 : firstMatch(text, matchedTerms, room);
  const end = meter.fit(start, text.length, room);
  const cut = end < text.length ? text.slice(start, end).trimEnd() + MARK : text.slice(start);
  return start > 0 ? MARK + cut : cut;
}

/** The beginning of the first line with a matched word, unless the text's own beginning has it. */
function firstMatch(text: string, terms: readonly string[], room: number): number {
  const low = text.toLowerCase();
  const places = terms.map((term) => low.indexOf(term.toLowerCase())).filter((at) => at >= 0);
  if (places.length === 0) return 0;
  const first = Math.min(...places);
  if (new TokenMeter(text).fit(0, text.length, room) > first) return 0;
  return text.lastIndexOf("\n", first) + 1;
}
