import { Minimatch } from "../../vendor/minimatch.js";

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

/**
 * What keeps patterns from choosing documents, for whoever writes them; null: nothing does.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(findGlobProblem(["docs/**\/*.{md,mdx}", "!docs/old/**"]), null);
 * assert.match(findGlobProblem(["!**"]) ?? "", /chooses nothing/);
 * ```
 */
export function findGlobProblem(globs: readonly string[]): string | null {
  for (const glob of globs) {
    const pattern = glob.replace(/^!/, "");
    if (glob.length > MAX_PATTERN_CHARS) {
      return `one is longer than ${MAX_PATTERN_CHARS} characters`;
    }
    if (pattern === "" || /^\.?\//.test(pattern) || pattern.split("/").includes("..")) {
      return `'${glob}' fits no path, since paths begin at the repository's root: docs/**/*.md`;
    }
    if (!isBalanced(pattern, "{", "}") || !isBalanced(pattern, "[", "]")) {
      return `'${glob}' has a bracket without its partner`;
    }
  }
  return globs.every((glob) => glob.startsWith("!"))
    ? "it chooses nothing, it only excludes"
    : null;
}

function isBalanced(pattern: string, open: string, close: string): boolean {
  return pattern.split(open).length === pattern.split(close).length;
}

function toMatcher(glob: string): Minimatch {
  return new Minimatch(glob, { dot: true, nocomment: true, nonegate: true });
}
