import { CONDITION, type Contradiction, type Passage } from "./contradiction.ts";
import type { Sentence } from "./prompt_text.ts";

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
export function findRivalAnswers(all: readonly Sentence[]): Contradiction[] {
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
