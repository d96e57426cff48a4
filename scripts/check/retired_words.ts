/**
 * Words that stand for a plainer one. Each was used in this project as a metaphor of its own, which
 * a reader who searches for the standard term does not find.
 */
const RETIRED_WORDS: Readonly<Record<string, string>> = {
  bell: "wake-up or notification",
  door: "endpoint",
  heed: "respect",
  patiently: "(leave it out)",
  shall: "must or should",
};
/** Retired in pages; code comments still use it. */
const RETIRED_IN_PAGES: Readonly<Record<string, string>> = {
  ...RETIRED_WORDS,
  told: "say who gets or learns what",
};

/** The retired words in a text file, each with its line and what to write instead. */
export function retiredWords(path: string, text: string): string[] {
  const words = path.endsWith(".md") ? RETIRED_IN_PAGES : RETIRED_WORDS;
  const pattern = new RegExp(`\\b(${Object.keys(words).join("|")})s?\\b`, "gi");
  return text.split("\n").flatMap((line, index) =>
    [...line.matchAll(pattern)].map(([, word = ""]) =>
      `${path}:${index + 1}: instead of "${word}" write: ${words[word.toLowerCase()]}`
    )
  );
}
