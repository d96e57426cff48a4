import { Minimatch } from "minimatch";

/** Longer patterns are no patterns of paths. */
const MAX_PATTERN_CHARS = 256;

/**
 * Makes the filter of a project's `include_globs`: a path passes when a pattern fits and none that
 * begins with `!` does. `*` stays within a folder, `**` does not; names that begin with a dot count
 * as any other.
 */
export function createPathFilter(globs: readonly string[]): (path: string) => boolean {
  const usable = globs.filter((glob) => glob.length <= MAX_PATTERN_CHARS);
  const included = usable.filter((glob) => !glob.startsWith("!")).map(toMatcher);
  const excluded = usable.filter((glob) => glob.startsWith("!"))
    .map((glob) => toMatcher(glob.slice(1)));
  return (path) =>
    included.some((matcher) => matcher.match(path)) &&
    !excluded.some((matcher) => matcher.match(path));
}

function toMatcher(glob: string): Minimatch {
  return new Minimatch(glob, { dot: true, nocomment: true, nonegate: true });
}
