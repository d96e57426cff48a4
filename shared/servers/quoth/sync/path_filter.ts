import { Minimatch } from "../../../vendor/minimatch.js";

/** Maximum length of a pattern. */
const MAX_PATTERN_CHARS = 256;

/**
 * Creates the filter of a project's `include_globs`: a path passes if a pattern matches and no
 * pattern with `!` does. `*` stays within a folder, `**` does not; names that start with a dot are
 * not special.
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
 * The problem with a list of patterns, for its author; null if there is none.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(findGlobProblem(["docs/**\/*.{md,mdx}", "!docs/old/**"]), null);
 * assert.match(findGlobProblem(["!**"]) ?? "", /matches nothing/);
 * ```
 */
export function findGlobProblem(globs: readonly string[]): string | null {
  for (const glob of globs) {
    const pattern = glob.replace(/^!/, "");
    if (glob.length > MAX_PATTERN_CHARS) {
      return `one is longer than ${MAX_PATTERN_CHARS} characters`;
    }
    if (pattern === "" || /^\.?\//.test(pattern) || pattern.split("/").includes("..")) {
      return `'${glob}' matches no path, because paths start at the repository's root: docs/**/*.md`;
    }
    if (!isBalanced(pattern, "{", "}") || !isBalanced(pattern, "[", "]")) {
      return `'${glob}' has an unbalanced bracket`;
    }
  }
  return globs.every((glob) => glob.startsWith("!"))
    ? "it matches nothing, because it only excludes"
    : null;
}

function isBalanced(pattern: string, open: string, close: string): boolean {
  return pattern.split(open).length === pattern.split(close).length;
}

function toMatcher(glob: string): Minimatch {
  return new Minimatch(glob, { dot: true, nocomment: true, nonegate: true });
}
