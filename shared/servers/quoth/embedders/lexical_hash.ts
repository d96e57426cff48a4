import { toUnitVector } from "./unit_vector.ts";

/** Weights of the features of a text; measured, see `docs/reference/embedders.md`. */
const WORD_WEIGHT = 1;
const WORD_PAIR_WEIGHT = 0.5;
const LETTERS_WEIGHT = 0.3;
const NAME_WEIGHT = 0.7;
/** English stop words, which count only if there are no other words. */
const STOP_WORD_WEIGHT = 0.1;

/** Length of word parts, through which `configure` resembles `configuration`. */
const LETTERS = 4;

/** Words joined by symbols. It starts at a word boundary, which avoids repeated scans. */
const NAMES = /(?<![\p{L}\p{N}])[\p{L}\p{N}]+(?:[._:@/-]+[\p{L}\p{N}]+)+/gu;

const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a an and are as at be by can do does for from how i if in into is it its my no not of on or " +
    "so such that the their then there these they this to was what when where which why will " +
    "with you your we use using").split(" "),
);

/**
 * The words of a text as a unit vector: words, adjacent pairs, parts of four letters and whole
 * names (`deno.serve`, `user_id`), each hashed to a place and a sign. Texts that share names and
 * terms are near; synonyms are not.
 *
 * It is the same on every machine and needs no model. A text without any word has the first axis.
 *
 * @param dimensions Length of the vector.
 */
export function hashWords(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const [feature, { weight, count }] of featuresOf(text)) {
    const hash = hashFeature(feature);
    const place = hash % dimensions;
    const sign = hash >= 0x8000_0000 ? 1 : -1;
    vector[place] = (vector[place] ?? 0) + sign * weight * (1 + Math.log(count));
  }
  return toUnitVector(vector) ?? vector.map((_, place) => place === 0 ? 1 : 0);
}

interface Feature {
  readonly weight: number;
  count: number;
}

function featuresOf(text: string): ReadonlyMap<string, Feature> {
  const features = new Map<string, Feature>();
  const add = (name: string, weight: number) => {
    const feature = features.get(name);
    if (feature === undefined) features.set(name, { weight, count: 1 });
    else feature.count++;
  };
  let previous: string | null = null;
  const plain = text.normalize("NFKC").toLowerCase();
  for (const [name] of plain.matchAll(NAMES)) {
    add(`name ${name}`, NAME_WEIGHT);
  }
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (STOP_WORDS.has(word)) {
      add(`stop ${word}`, STOP_WORD_WEIGHT);
      previous = null;
      continue;
    }
    add(`word ${word}`, WORD_WEIGHT);
    if (previous !== null) add(`pair ${previous} ${word}`, WORD_PAIR_WEIGHT);
    for (const letters of piecesOf(word)) add(`letters ${letters}`, LETTERS_WEIGHT);
    previous = word;
  }
  return features;
}

/** All parts of the word, with marked ends: `_abc_` has `_abc` and `abc_`. */
function* piecesOf(word: string): Generator<string> {
  const marked = `_${word}_`;
  for (let start = 0; start + LETTERS <= marked.length; start++) {
    yield marked.slice(start, start + LETTERS);
  }
}

/** FNV-1a with an additional bit mix: alone it hashes similar short texts to nearby values. */
function hashFeature(feature: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < feature.length; index++) {
    hash = Math.imul(hash ^ feature.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
