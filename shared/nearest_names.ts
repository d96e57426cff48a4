/** Longer names are not typos, and comparing two takes quadratic time. */
const MAX_NAME_CHARACTERS = 128;

/**
 * The known names most similar to a wrong one, best first: equal except for case and separators,
 * containing one another, or a few typos apart.
 *
 * @param limit Maximum number of names. @default 3
 */
export function nearestNames(name: string, known: Iterable<string>, limit = 3): string[] {
  if (name.length > MAX_NAME_CHARACTERS) return [];
  return [...known]
    .filter((candidate) => candidate.length <= MAX_NAME_CHARACTERS)
    .map((candidate) => ({ candidate, distance: nameDistance(name, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

function nameDistance(name: string, candidate: string): number {
  const a = plain(name);
  const b = plain(candidate);
  if (a === b) return 0;
  if (a.length > 2 && b.length > 2 && (a.includes(b) || b.includes(a))) return 1;
  return editDistance(a, b);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** Insertions, deletions and replacements between two texts (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
