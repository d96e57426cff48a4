import {
  plainPhrase,
  type PromptIssue,
  type PromptIssueCode,
  type PromptText,
  wordsPattern,
} from "./prompt_text.ts";

const VAGUE = [
  ...["something", "somehow", "stuff", "things", "whatever", "various", "etc", "and so on"],
  ...["kind of", "sort of", "some kind of", "some sort of", "a bit", "a little", "as needed"],
  ...["if necessary", "as appropriate", "where appropriate", "asap", "nice", "interesting"],
  ...["properly", "optimal", "somewhat", "more or less", "and more", "or similar"],
];

/** Biased terms and their replacements. */
const BIASED: Readonly<Record<string, string>> = {
  chairman: "chair",
  businessman: "business person",
  fireman: "firefighter",
  policeman: "police officer",
  mailman: "mail carrier",
  stewardess: "flight attendant",
  mankind: "humanity",
  manpower: "workforce",
  "man hours": "person hours",
  "man-hours": "person-hours",
  "man-made": "artificial",
  guys: "everyone",
  blacklist: "blocklist",
  blacklisted: "blocked",
  whitelist: "allowlist",
  whitelisted: "allowed",
  "master/slave": "primary/replica",
  "sanity check": "quick check",
  crazy: "surprising",
  insane: "extreme",
  lame: "weak",
  crippled: "limited",
  "normal people": "most people",
  "illegal alien": "undocumented person",
  "illegal aliens": "undocumented people",
  "the elderly": "older people",
  "the disabled": "people with disabilities",
  "third world": "lower-income countries",
  "everyone knows": "a source",
  "as everybody knows": "a source",
};

/** Wordy phrases and their replacements; an empty replacement means omit it. */
const VERBOSE: Readonly<Record<string, string>> = {
  "in order to": "to",
  "due to the fact that": "because",
  "for the purpose of": "for",
  "in the event that": "if",
  "at this point in time": "now",
  "a large number of": "many",
  "the majority of": "most",
  "has the ability to": "can",
  "have the ability to": "can",
  "with regard to": "about",
  "with respect to": "about",
  "i would like you to": "",
  "i want you to": "",
  "could you please": "",
  "would you please": "",
  "can you please": "",
  "please note that": "",
  "it is important to note that": "",
  "it should be noted that": "",
  "needless to say": "",
  "as a matter of fact": "",
  basically: "",
  actually: "",
  really: "",
  very: "",
};

/** Finds the listed phrases, each with its position. */
export const findPhrases: (prompt: PromptText) => PromptIssue[] = collect([
  listed("VAGUE_WORD", VAGUE, (found) => `"${found}" is vague`),
  listed(
    "BIASED_TERM",
    Object.keys(BIASED),
    (found) => `"${found}" is biased; "${BIASED[plainPhrase(found)]}" is not`,
  ),
  listed("VERBOSE_PHRASE", Object.keys(VERBOSE), (found) => {
    const shorter = VERBOSE[plainPhrase(found)] ?? "";
    return shorter === ""
      ? `"${found}" can be omitted`
      : `"${found}" can be shortened to "${shorter}"`;
  }),
]);

type Rule = (prompt: PromptText) => PromptIssue[];

function collect(rules: readonly Rule[]): Rule {
  return (prompt) => rules.flatMap((rule) => rule(prompt));
}

function listed(
  code: PromptIssueCode,
  phrases: readonly string[],
  describe: (found: string) => string,
): Rule {
  const pattern = wordsPattern(phrases);
  return ({ prose }) =>
    [...prose.matchAll(pattern)].map(({ 0: found, index }) => ({
      code,
      message: describe(found),
      start: index,
      end: index + found.length,
    }));
}
