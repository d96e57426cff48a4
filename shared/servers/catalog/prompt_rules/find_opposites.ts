import type { Contradiction, Passage } from "./contradiction.ts";
import { expressionPattern } from "./prompt_text.ts";

/** Two expressions with opposite meanings. */
interface Opposites {
  readonly one: string;
  readonly other: string;
}

/**
 * The properties of an answer that a word such as "short" can describe; a "short circuit" is not
 * one.
 */
const ANSWERS = "answers?|reply|replies|response|text|output|summary|report|note|paragraph|" +
  "article|essay|email|letter|story|description|version|message|post|list|explanation|review|poem";
const OF_AN_ANSWER = `(?=\\s{1,4}(?:${ANSWERS}|and|but|yet|as)\\b|\\s{0,4}[.,;:!?)]|\\s{0,4}$)`;

const OPPOSITES: readonly Opposites[] = [
  {
    one: `brief|briefly|concise|concisely|succinct|succinctly|terse|short${OF_AN_ANSWER}`,
    other: "detailed|in\\s{1,4}(?:\\p{L}{2,12}\\s{1,4})?detail|comprehensive|exhaustive|" +
      `in[\\s-]{1,4}depth|thorough|thoroughly|lengthy|long${OF_AN_ANSWER}`,
  },
  {
    one: "formal|formally|professional\\s{1,4}tone",
    other: "casual|casually|informal|informally|colloquial|slang",
  },
  {
    one: "simple|simply|plain\\s{1,4}language",
    other: "technical\\s{1,4}jargon|highly\\s{1,4}technical",
  },
  { one: "serious|neutral\\s{1,4}tone", other: "funny|humorous|sarcastic" },
  {
    one: "in\\s{1,4}(?:the\\s{1,4})?past\\s{1,4}tense",
    other: "in\\s{1,4}(?:the\\s{1,4})?present\\s{1,4}tense",
  },
  {
    one: "(?:in|use|from)\\s{1,4}(?:the\\s{1,4})?first\\s{1,4}person",
    other: "(?:in|use|from)\\s{1,4}(?:the\\s{1,4})?third\\s{1,4}person",
  },
];

const PAIRS = OPPOSITES.map(({ one, other }) => ({
  one: expressionPattern(one),
  other: expressionPattern(other),
}));

const NEGATED =
  /(?:\b(?:not|no|never|avoid|without|isn't|don't|nor|less|rather than|instead of)|n't)\s+(?:\S+\s+){0,2}$/;
/** A statement about something else is not an instruction. */
const REPORTED = /\b(?:was|were|is|are|been|written)\s+$/;
/** Number of characters before a word that are searched for a negation. */
const NEGATION_REACH = 40;
/** The word after an adjective, which the adjective describes. */
const DESCRIBED = /^[ \t]{1,4}([\p{L}]{3,30})/u;
/** Words that refer to the whole answer, or that begin another clause. */
const ANY_ANSWER =
  /^(?:answers?|reply|response|text|output|voice|tone|style|language|manner|way|writing|and|but|yet|for|with|about|the|when|than|that|terms|words?|sentences?)$/;

/** Finds words that request opposite properties of the same text. */
export function findOpposites(prose: string): Contradiction[] {
  return PAIRS.flatMap(({ one, other }) => {
    const first = firstAsked(prose, one);
    const second = firstAsked(prose, other);
    if (first === null || second === null || areOfDifferentThings(first, second)) return [];
    const [earlier, later] = first.index < second.index ? [first, second] : [second, first];
    return [{ earlier, later }];
  });
}

/** A word that requests a property, and what it describes; null means the whole answer. */
interface Asked extends Passage {
  readonly described: string | null;
}

function firstAsked(prose: string, pattern: RegExp): Asked | null {
  for (const { 0: text, index } of prose.matchAll(pattern)) {
    const before = prose.slice(Math.max(0, index - NEGATION_REACH), index);
    const clause = before.slice(
      Math.max(...[..."\n.,;:"].map((mark) => before.lastIndexOf(mark))) + 1,
    );
    if (NEGATED.test(clause) || REPORTED.test(clause)) continue;
    const word = DESCRIBED.exec(prose.slice(index + text.length, index + text.length + 40))?.[1];
    const described = word === undefined || ANY_ANSWER.test(word) ? null : word.toLowerCase();
    return { text, index, described };
  }
  return null;
}

/** "A brief summary, then a detailed analysis" requests two texts. */
function areOfDifferentThings(one: Asked, other: Asked): boolean {
  return one.described !== null && other.described !== null && one.described !== other.described;
}
