import { CONDITION, type Contradiction, type Passage } from "./contradiction.ts";
import { plainPhrase, type Sentence } from "./prompt_text.ts";
import { ownMember } from "../../../platform/values/own_member.ts";

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
export function findOpposedInstructions(sentences: readonly Sentence[]): Contradiction[] {
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
