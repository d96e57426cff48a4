/** A nonstandard word, and the standard term to use instead. */
interface RetiredWord {
  /** Source of a regular expression; a plural `s` also matches. */
  readonly pattern: string;
  readonly instead: string;
}

const RETIRED_WORDS: readonly RetiredWord[] = [
  { pattern: "bell", instead: "wake-up or notification" },
  { pattern: "door", instead: "endpoint" },
  { pattern: "heed", instead: "respect" },
  { pattern: "patiently", instead: "(omit it)" },
  { pattern: "(?:a|the) person'+s leave", instead: "an approval" },
  { pattern: "shall", instead: "must or should" },
  { pattern: "told", instead: "gets, sees, is notified of, is reported" },
];

const MATCHERS = RETIRED_WORDS.map(({ pattern, instead }) => ({
  matcher: new RegExp(`\\b${pattern}s?\\b`, "gi"),
  instead,
}));

/** Finds the retired words in a text file, each with its line and the term to use instead. */
export function retiredWords(path: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) =>
    MATCHERS.flatMap(({ matcher, instead }) =>
      [...line.matchAll(matcher)].map(([word]) =>
        `${path}:${index + 1}: instead of "${word}" write: ${instead}`
      )
    )
  );
}
