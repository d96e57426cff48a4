import type { Passage } from "./contradiction.ts";
import { findOpposedInstructions } from "./find_opposed_instructions.ts";
import { findOpposites } from "./find_opposites.ts";
import { findRivalAnswers } from "./find_rival_answers.ts";
import type { PromptIssue, PromptText } from "./prompt_text.ts";

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
