import { CONDITION, type Contradiction, type Passage } from "./contradiction.ts";
import {
  expressionPattern,
  plainPhrase,
  type PromptIssue,
  type PromptText,
  type Sentence,
} from "./prompt_text.ts";
import { ownMember } from "../../../platform/values/own_member.ts";

/** Finds instructions that contradict each other; reports the position of the later one. */
export function findContradictions({ prose, lowerProse, sentences }: PromptText): PromptIssue[] {
  const found = [
    ...findOpposites(lowerProse),
    ...findOpposedInstructions(sentences),
    ...findRivalAnswers(sentences),
  ];
  const asWritten = ({ index, text }: Passage) => prose.slice(index, index + text.length);
  return found.map(({ earlier, later }) => ({
    code: "CONTRADICTION",
    message: `"${asWritten(later)}" contradicts "${asWritten(earlier)}"`,
    start: later.index,
    end: later.index + later.text.length,
  }));
}

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
function findOpposites(prose: string): Contradiction[] {
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

/** The beginning of an instruction, and the words up to the end of its clause. */
const CLAUSE =
  /^(?:[-*•]\s{1,4}|\d{1,2}[.)]\s{1,4})?(?:(?:please|you|it|the answer|answers)\s{1,4})?((?:always|never|do not|don't|must not|must|should not|should|avoid)\s{1,4})?([\p{L}'-]{2,30}(?:\s{1,4}[\p{L}\p{N}'-]{1,30}){0,7})\s{0,4}(?=$|[,;:()])/u;
const FORBIDS = /^(?:never|do not|don't|must not|should not|avoid)\s/;
/** "Avoid using lists" forbids what "use lists" requires. */
const GERUNDS: Readonly<Record<string, string>> = {
  using: "use",
  writing: "write",
  including: "include",
  adding: "add",
  mentioning: "mention",
  making: "make",
  giving: "give",
};
/** A single word is ambiguous: "Do not list." */
const MIN_WORDS = 2;

interface Instruction extends Passage {
  readonly isForbidden: boolean;
  readonly words: readonly string[];
}

/** Finds instructions that one sentence requires and another forbids. */
function findOpposedInstructions(sentences: readonly Sentence[]): Contradiction[] {
  const required = new Map<string, Instruction>();
  const forbidden = new Map<string, Instruction>();
  const found: Contradiction[] = [];
  for (const instruction of instructionsOf(sentences)) {
    const { words, isForbidden } = instruction;
    // The required instruction may be longer: "use lists for steps" against "do not use lists".
    const starts = words.slice(MIN_WORDS - 1).map((_, at) =>
      words.slice(0, at + MIN_WORDS).join(" ")
    );
    const whole = words.join(" ");
    const earlier = isForbidden
      ? required.get(whole)
      : starts.map((start) => forbidden.get(start)).find((rule) => rule !== undefined);
    if (earlier !== undefined) found.push({ earlier, later: instruction });
    if (isForbidden) {
      if (!forbidden.has(whole)) forbidden.set(whole, instruction);
    } else {
      for (const start of starts) if (!required.has(start)) required.set(start, instruction);
    }
  }
  return found;
}

function instructionsOf(sentences: readonly Sentence[]): Instruction[] {
  return sentences.flatMap(({ sentence, start }): Instruction[] => {
    if (CONDITION.test(sentence)) return [];
    const match = CLAUSE.exec(sentence);
    if (match === null) return [];
    const [whole, keyword = "", action = ""] = match;
    const [first = "", ...others] = plainPhrase(action).split(" ");
    const words = [ownMember(GERUNDS, first) ?? first, ...others];
    if (words.length < MIN_WORDS) return [];
    const text = `${keyword}${action}`;
    const index = start + whole.indexOf(text);
    return [{ text, index, words, isForbidden: FORBIDS.test(keyword) }];
  });
}

const ANSWER = String
  .raw`(?:answer|respond|reply|output|write)(?:\s{1,4}(?:everything|only|always|(?:the|your|all)\s{1,4}(?:answers?|responses?|output)))?\s{1,4}(?:only\s{1,4})?`;
const LANGUAGE = new RegExp(
  String
    .raw`(?<![\p{L}])${ANSWER}in\s{1,4}(english|french|german|spanish|italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic|hindi|chinese|japanese|korean)(?![\p{L}])`,
  "u",
);
const FORMAT = new RegExp(
  String
    .raw`(?<![\p{L}])${ANSWER}(?:in|as|with)\s{1,4}(?:an?\s{1,4}|valid\s{1,4}|only\s{1,4}){0,2}(json|yaml|xml|csv|html|markdown|plain text|prose|tables?|bullet points|bulleted list|numbered list)(?![\p{L}])`,
  "u",
);

const NUMBERS: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8 },
  ...{ nine: 9, ten: 10, single: 1 },
};
const LENGTH =
  /(?<![\p{L}\p{N}])(at least|no fewer than|not less than|minimum of|more than|at most|no more than|not more than|up to|fewer than|less than|under|within|maximum of|in)\s{1,4}(?:a\s{1,4}(?=single))?(\d{1,6}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|single)\s{1,4}(words?|sentences?|paragraphs?|bullet points?|bullets?|lines?|characters?|items?)(?![\p{L}])/gu;
const IS_MINIMUM = /^(?:at least|no fewer|not less|minimum|more)/;
/** The length of a part is not the length of the answer. */
const PART =
  /(?<![\p{L}])(?:each|every|per|summary|title|headline|heading|introduction|intro|abstract|conclusion|section|start|begin|end|then|first|followed|subject|caption|code|quote|example|examples)(?![\p{L}])/u;
/** A number larger than the number of words in any sentence. */
const WORDS_A_SENTENCE = 100;

/** Finds two languages, two formats or two lengths that one answer cannot have. */
function findRivalAnswers(all: readonly Sentence[]): Contradiction[] {
  const sentences = all.filter(({ sentence }) => !CONDITION.test(sentence));
  return [
    ...findRivals(sentences, LANGUAGE),
    ...findRivals(sentences, FORMAT),
    ...findRivalLengths(sentences),
  ];
}

function findRivals(sentences: readonly Sentence[], pattern: RegExp): Contradiction[] {
  let earlier: Passage & { readonly value: string } | null = null;
  for (const { sentence, start } of sentences) {
    const match = pattern.exec(sentence);
    if (match === null) continue;
    const [text, name = ""] = match;
    const found = { text, index: start + match.index, value: name.replace(/s$/, "") };
    if (earlier !== null && earlier.value !== found.value) return [{ earlier, later: found }];
    earlier ??= found;
  }
  return [];
}

interface Bound extends Passage {
  readonly isMinimum: boolean;
  readonly count: number;
  readonly unit: string;
}

function findRivalLengths(sentences: readonly Sentence[]): Contradiction[] {
  const bounds = sentences.filter(({ sentence }) => !PART.test(sentence)).flatMap(boundsOf);
  const minimum = bounds.find(({ isMinimum }) => isMinimum);
  if (minimum === undefined) return [];
  const maximum = bounds.find((bound) => !bound.isMinimum && excludes(bound, minimum));
  if (maximum === undefined) return [];
  const [earlier, later] = minimum.index < maximum.index ? [minimum, maximum] : [maximum, minimum];
  return [{ earlier, later }];
}

function boundsOf({ sentence, start }: Sentence): Bound[] {
  return [...sentence.matchAll(LENGTH)].map(
    ({ 0: text, 1: word = "", 2: count = "", 3: unit = "", index }) => ({
      text,
      index: start + index,
      isMinimum: IS_MINIMUM.test(word),
      count: NUMBERS[count.toLowerCase()] ?? Number(count),
      unit: unit.replace(/s$/, ""),
    }),
  );
}

function excludes(maximum: Bound, minimum: Bound): boolean {
  if (maximum.unit === minimum.unit) return minimum.count > maximum.count;
  return maximum.unit === "sentence" && minimum.unit === "word" &&
    minimum.count > maximum.count * WORDS_A_SENTENCE;
}
