/** A nonstandard word, and the standard term to use instead. */
interface RetiredWord {
  /** Source of a regular expression; a plural `s` also matches. */
  readonly pattern: string;
  readonly instead: string;
}

const RETIRED_WORDS: readonly RetiredWord[] = [
  { pattern: "authorisation", instead: "authorization" },
  { pattern: "behaviour", instead: "behavior" },
  { pattern: "bell", instead: "wake-up or notification" },
  { pattern: "door", instead: "endpoint" },
  { pattern: "forgive_\\w+", instead: "reset_" },
  { pattern: "generateAsTaken", instead: "generateWithDowngrades" },
  { pattern: "hand_(?:over|back|result)\\w*|hand(?:ed)?Back\\w*", instead: "release or report" },
  { pattern: "heed", instead: "respect" },
  { pattern: "isPerhaps\\w*", instead: "may or might" },
  { pattern: "judgement", instead: "judgment" },
  { pattern: "(?:modern|normal)is(?:e|ed|ing|ation)", instead: "modernize, normalize" },
  { pattern: "private\\.(?:note|keep)_(?!vector|job)\\w+", instead: "record_" },
  { pattern: "patiently", instead: "(omit it)" },
  { pattern: "(?:a|the) person'+s leave", instead: "an approval" },
  {
    pattern: "(?:forget|prune|put|save_connection|save_oauth|keep_chunk|keep_sql)_\\w+",
    instead: "delete_ or record_",
  },
  { pattern: "shall", instead: "must or should" },
  { pattern: "stem_anew", instead: "stem_again" },
  { pattern: "taught_set", instead: "learned_sets" },
  { pattern: "telling_word", instead: "distinctive_words" },
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
