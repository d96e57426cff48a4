/** BM25 parameters: saturation of repetitions, and penalty for long texts. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.6;

/** Weight of a word that is a prefix of another (`cust` for `customers`), or contains it. */
const BEGINNING_WEIGHT = 0.6;
const PART_WEIGHT = 0.4;
const SHORTEST_BEGINNING = 3;
const SHORTEST_PART = 5;

/** Maximum number of a question's words; each of them is compared with every word of the index. */
const MAX_WORDS = 200;

/** The words of one part of an item, and how much each of them counts. */
export interface WeightedWords {
  readonly words: readonly string[];
  readonly weight: number;
}

/** Items with counted words, so that ranking does not read them again. */
export interface WordIndex {
  /** For each word, the items with it and its weight there. */
  readonly postings: ReadonlyMap<string, ReadonlyMap<number, number>>;
  readonly lengths: readonly number[];
  readonly meanLength: number;
}

/** Counts the words of items. An item is named by its place in the list. */
export function indexWords(items: readonly (readonly WeightedWords[])[]): WordIndex {
  const postings = new Map<string, Map<number, number>>();
  const lengths = items.map((parts, index) => {
    let length = 0;
    for (const { words, weight } of parts) {
      for (const word of words) {
        const itemsOfWord = postings.get(word) ?? new Map<number, number>();
        itemsOfWord.set(index, (itemsOfWord.get(index) ?? 0) + weight);
        postings.set(word, itemsOfWord);
        length += weight;
      }
    }
    return length;
  });
  const sum = lengths.reduce((total, length) => total + length, 0);
  return { postings, lengths, meanLength: sum / Math.max(1, items.length) };
}

/** The different words of a question, as many as are compared. */
export function questionWords(words: readonly string[]): ReadonlySet<string> {
  return new Set(new Set(words).values().take(MAX_WORDS));
}

/** How much one word of a question says for each item that has it or a similar word (BM25). */
export function gainsOf(word: string, index: WordIndex): ReadonlyMap<number, number> {
  const { lengths, meanLength } = index;
  return new Map(
    weightsOf(word, index).entries().map(([item, { count, rarity }]) => {
      const length = 1 - LENGTH_SHARE + LENGTH_SHARE * (lengths[item] ?? 0) / (meanLength || 1);
      return [item, rarity * count * (SATURATION + 1) / (count + SATURATION * length)];
    }),
  );
}

interface WordWeight {
  readonly count: number;
  readonly rarity: number;
}

/** The weight of a question's word per item: the best similar word counts. */
function weightsOf(
  word: string,
  { postings, lengths: { length: itemCount } }: WordIndex,
): ReadonlyMap<number, WordWeight> {
  const best = new Map<number, WordWeight>();
  for (const [known, items] of postings) {
    const likeness = likenessOf(word, known);
    if (likeness === 0) continue;
    const rarity = likeness * Math.log(1 + (itemCount - items.size + 0.5) / (items.size + 0.5));
    for (const [item, count] of items) {
      const before = best.get(item);
      if (before === undefined || before.rarity < rarity) best.set(item, { count, rarity });
    }
  }
  return best;
}

function likenessOf(word: string, known: string): number {
  if (word === known) return 1;
  const [short, long] = word.length < known.length ? [word, known] : [known, word];
  if (short.length >= SHORTEST_BEGINNING && long.startsWith(short)) return BEGINNING_WEIGHT;
  return short.length >= SHORTEST_PART && long.includes(short) ? PART_WEIGHT : 0;
}
