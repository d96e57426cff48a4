import { plainPhrase, type PromptIssue, type PromptText, wordsPattern } from "./prompt_text.ts";

/** Two groups of words with opposite meanings. */
interface Opposites {
  readonly one: readonly string[];
  readonly other: readonly string[];
}

const OPPOSITES: readonly Opposites[] = [
  {
    one: ["brief", "briefly", "concise", "concisely", "short", "succinct", "terse"],
    other: [
      ...["detailed", "in detail", "comprehensive", "exhaustive", "in depth", "in-depth"],
      ...["thorough", "lengthy", "long"],
    ],
  },
  {
    one: ["formal", "formally", "professional tone"],
    other: ["casual", "informal", "informally", "colloquial", "slang"],
  },
  { one: ["simple", "simply", "plain language"], other: ["technical jargon", "highly technical"] },
  { one: ["serious", "neutral tone"], other: ["funny", "humorous", "sarcastic"] },
  {
    one: ["in past tense", "in the past tense"],
    other: ["in present tense", "in the present tense"],
  },
  { one: ["first person"], other: ["third person"] },
];

const MATCHERS = OPPOSITES.map(({ one, other }) => ({
  one: wordsPattern(one),
  other: wordsPattern(other),
}));

/** What an instruction requires or forbids: the verb and up to three more words. */
const ABSOLUTE =
  /(?<![\p{L}\p{N}])(always|never|do not|don't|must not|must)\s{1,4}([\p{L}'-]{2,30}(?:[ \t]{1,4}[\p{L}'-]{1,30}){0,3})/giu;
const NEGATED = /(?:\b(?:not|no|never|avoid|without|isn't|don't|nor)|n't)\s+(?:\S+\s+){0,2}$/i;
/** Characters before a word that are searched for a negation. */
const NEGATION_REACH = 40;

/** Finds instructions that contradict each other; reports the position of the later one. */
export function findContradictions(prompt: PromptText): PromptIssue[] {
  return [...findOpposites(prompt), ...findAbsolutes(prompt)];
}

function findOpposites({ prose }: PromptText): PromptIssue[] {
  return MATCHERS.flatMap(({ one, other }) => {
    const first = firstAsked(prose, one);
    const second = firstAsked(prose, other);
    if (first === null || second === null) return [];
    const [earlier, later] = first.index < second.index ? [first, second] : [second, first];
    return [contradiction(later, `"${later.found}" contradicts "${earlier.found}"`)];
  });
}

interface Found {
  readonly found: string;
  readonly index: number;
}

function firstAsked(prose: string, pattern: RegExp): Found | null {
  for (const { 0: found, index } of prose.matchAll(pattern)) {
    const before = prose.slice(Math.max(0, index - NEGATION_REACH), index);
    const clause = before.slice(
      Math.max(...[..."\n.,;:"].map((mark) => before.lastIndexOf(mark))) + 1,
    );
    if (!NEGATED.test(clause)) return { found, index };
  }
  return null;
}

function findAbsolutes({ prose }: PromptText): PromptIssue[] {
  const asked = new Map<string, { readonly isWanted: boolean; readonly text: string }>();
  const issues: PromptIssue[] = [];
  for (const { 0: text, 1: word = "", 2: action = "", index } of prose.matchAll(ABSOLUTE)) {
    const isWanted = /^(always|must)$/i.test(word);
    const key = plainPhrase(action);
    const earlier = asked.get(key);
    if (earlier !== undefined && earlier.isWanted !== isWanted) {
      issues.push(
        contradiction({ found: text, index }, `"${text}" contradicts "${earlier.text}"`),
      );
    }
    if (earlier === undefined) asked.set(key, { isWanted, text });
  }
  return issues;
}

function contradiction({ found, index }: Found, message: string): PromptIssue {
  return { code: "CONTRADICTION", message, start: index, end: index + found.length };
}
