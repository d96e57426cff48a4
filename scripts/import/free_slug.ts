import { MAX_SLUG_CHARACTERS } from "../../shared/platform/values/name_to_slug.ts";

/** The slug, or with a number at its end if it is taken; marks it as taken. */
export function freeSlug(slug: string, taken: Set<string>): string {
  let free = slug;
  for (let number = 2; taken.has(free); number++) {
    const end = `-${number}`;
    free = `${slug.slice(0, MAX_SLUG_CHARACTERS - end.length)}${end}`;
  }
  taken.add(free);
  return free;
}
