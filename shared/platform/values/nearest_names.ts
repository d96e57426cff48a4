/** Longer names are not typos, and comparing two takes quadratic time. */
const MAX_NAME_CHARACTERS = 128;
/** Pairs of characters that the hints of one request may compare: about 10 ms. */
const MAX_PAIRS = 2_000_000;
/** Preparing a comparison costs as much as this many pairs. */
const PAIRS_PER_NAME = 60;

/**
 * Hints for the wrong names of one request. All of them together do a bounded amount of work:
 * thousands of wrong names get no more hints than a few.
 */
export class NameHints {
  #pairsLeft = MAX_PAIRS;

  /**
   * The known names most similar to a wrong one, best first: equal except for case and separators,
   * containing one another, or a few typos apart. Of equally near names, the one with the most
   * similar length comes first. Names that the limit excludes are not compared.
   *
   * @param limit Maximum number of names. @default 3
   */
  nearest(name: string, known: Iterable<string>, limit = 3): string[] {
    if (name.length > MAX_NAME_CHARACTERS) return [];
    const wanted = plain(name);
    const lengthGap = (candidate: string) => Math.abs(candidate.length - name.length);
    const near: { readonly candidate: string; readonly distance: number }[] = [];
    for (const candidate of known) {
      if (this.#pairsLeft < 0) break;
      if (candidate.length > MAX_NAME_CHARACTERS) continue;
      const distance = this.#distance(wanted, plain(candidate), Math.max(2, candidate.length / 3));
      if (distance !== null) near.push({ candidate, distance });
    }
    return near
      .sort((a, b) =>
        a.distance - b.distance || lengthGap(a.candidate) - lengthGap(b.candidate) ||
        a.candidate.localeCompare(b.candidate)
      )
      .slice(0, limit)
      .map(({ candidate }) => candidate);
  }

  /** Null if it is more than `most`. */
  #distance(a: string, b: string, most: number): number | null {
    this.#pairsLeft -= PAIRS_PER_NAME;
    if (a === b) return 0;
    if (a.length > 2 && b.length > 2 && (a.includes(b) || b.includes(a))) return 1;
    return Math.abs(a.length - b.length) > most ? null : this.#editDistance(a, b, most);
  }

  /** Insertions, deletions and replacements between two texts (Levenshtein). */
  #editDistance(a: string, b: string, most: number): number | null {
    let row = Array.from({ length: b.length + 1 }, (_, column) => column);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) {
        const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
        next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
      }
      this.#pairsLeft -= b.length;
      if (Math.min(...next) > most) return null;
      row = next;
    }
    const distance = row[b.length] ?? 0;
    return distance <= most ? distance : null;
  }
}

/** The hints for a request with a single wrong name; see {@linkcode NameHints.nearest}. */
export function nearestNames(name: string, known: Iterable<string>, limit?: number): string[] {
  return new NameHints().nearest(name, known, limit);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
