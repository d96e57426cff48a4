import {
  expressionPattern,
  MAX_ISSUES,
  plainPhrase,
  type PromptIssue,
  type PromptIssueCode,
  type PromptText,
  wordsPattern,
} from "./prompt_text.ts";

const VAGUE = [
  ...["something", "somehow", "stuff", "things", "whatever", "various", "etc", "and so on"],
  ...["some kind of", "some sort of", "a bit", "as needed", "a few", "a couple of", "a lot of"],
  ...["lots of", "some examples", "some ideas", "some details", "some information", "some points"],
  ...["some tips", "some text", "if necessary", "as appropriate", "where appropriate", "asap"],
  ...["nice", "interesting", "cool", "awesome", "properly", "optimal", "somewhat", "more or less"],
  ...["and more", "or similar", "maybe", "perhaps", "as soon as possible", "reasonable amount"],
];

/** Words that are vague only in some contexts. */
const VAGUE_IN_CONTEXT = expressionPattern([
  String
    .raw`(?<!(?:the|this|that|what|which|each|any|every|one|two|some)\s{1,4})(?:kind|sort)\s{1,4}of`,
  String
    .raw`a\s{1,4}little(?=\s{1,4}(?:bit|more|less|longer|shorter|better|different|about)\b|\s{0,4}[.,;!?]|\s{0,4}$)`,
  String.raw`good(?!\s{1,4}(?:morning|afternoon|evening|night|luck|faith|friday|enough|for|at)\b)`,
  String.raw`(?<!(?:is|are|was|were)\s{1,4})better(?!\s{1,4}than\b)`,
].join("|"));

/** Biased terms and their replacements. */
const BIASED: Readonly<Record<string, string>> = {
  chairman: "chair",
  businessman: "business person",
  salesman: "salesperson",
  salesmen: "salespeople",
  saleswoman: "salesperson",
  waitress: "server",
  housewife: "homemaker",
  "cleaning lady": "cleaner",
  "man up": "be brave",
  forefathers: "ancestors",
  handicapped: "disabled",
  "the handicapped": "people with disabilities",
  "wheelchair-bound": "using a wheelchair",
  gypsy: "Roma",
  gypsies: "Roma",
  orientals: "Asian people",
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
  "as we all know": "a source",
  obviously: "a reason",
  undoubtedly: "a reason",
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
  "in spite of the fact that": "although",
  "despite the fact that": "although",
  "in the near future": "soon",
  "on a daily basis": "daily",
  "until such time as": "until",
  "each and every": "each",
  "first and foremost": "first",
  "make use of": "use",
  "take into consideration": "consider",
  "i would appreciate it if": "",
  "i would really appreciate it if": "",
  "i was wondering if": "",
  "if at all possible": "",
  "at the end of the day": "",
  "it goes without saying that": "",
  "in my opinion": "",
  "for all intents and purposes": "",
  literally: "",
  totally: "",
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

/** A general claim about a group of people. */
const GENERAL_CLAIM = expressionPattern(
  String
    .raw`(?:all\s{1,4})?(?:women|men|girls|boys|immigrants|foreigners|old people|young people|poor people|rich people|millennials|boomers)\s{1,4}(?:are|always|never|can't|cannot)\s{1,4}(?:(?:always|never|just|simply|naturally|obviously|inherently|all|usually|too)\s{1,4}){0,2}(?:bad|worse|better|lazy|stupid|weak|emotional|irrational|dangerous|criminal|unable)`,
);

/** A person of any gender, then a pronoun of one gender in the same sentence. */
const GENERIC_PRONOUN =
  /(?<![\p{L}\p{N}])(?:each|every|any)\s{1,4}(?:user|person|employee|customer|student|developer|engineer|doctor|nurse|manager|teacher|reader|author|member|candidate|applicant|citizen|player|programmer|client|patient|child|one)(?![\p{L}\p{N}])[^.!?\n]{0,80}?(?<![\p{L}\p{N}/])(?<!\bor\s)(he|she|him|his|her)(?![\p{L}\p{N}/]|\s+or\s)/gu;

/** Finds the listed phrases, each with its position. */
export const findPhrases: (prompt: PromptText) => PromptIssue[] = collect([
  matched("VAGUE_WORD", wordsPattern(VAGUE), describeVague),
  matched("VAGUE_WORD", VAGUE_IN_CONTEXT, describeVague),
  matched(
    "BIASED_TERM",
    wordsPattern(Object.keys(BIASED)),
    (found) => `"${found}" is biased; "${BIASED[plainPhrase(found)]}" is not`,
  ),
  matched("BIASED_TERM", GENERAL_CLAIM, (found) => `"${found}" generalizes about a group`),
  findGenericPronouns,
  matched("VERBOSE_PHRASE", wordsPattern(Object.keys(VERBOSE)), (found) => {
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

function matched(
  code: PromptIssueCode,
  pattern: RegExp,
  describe: (found: string) => string,
): Rule {
  return ({ prose, lowerProse }) =>
    [...lowerProse.matchAll(pattern).take(MAX_ISSUES)].map(({ 0: found, index }) => ({
      code,
      message: describe(prose.slice(index, index + found.length)),
      start: index,
      end: index + found.length,
    }));
}

function describeVague(found: string): string {
  return `"${found}" is vague`;
}

/** In "each user … his profile" the issue is the pronoun. */
function findGenericPronouns({ lowerProse }: PromptText): PromptIssue[] {
  return [...lowerProse.matchAll(GENERIC_PRONOUN).take(MAX_ISSUES)].map(
    ({ 0: found, 1: pronoun = "", index }) => {
      const end = index + found.length;
      return {
        code: "BIASED_TERM",
        message: `"${pronoun}" excludes other genders; "they" and "their" do not`,
        start: end - pronoun.length,
        end,
      };
    },
  );
}
