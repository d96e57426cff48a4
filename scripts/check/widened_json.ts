/** Modules that may lay JSON out: the one that stops where it grows, and writers of our own files. */
const MAY_LAY_OUT = /^(client\/json_text\.ts|client\/command\/|shared\/vendor\/)|_test\.tsx?$/;

/** `JSON.stringify()` with white space: the third argument follows a replacer without commas. */
const LAID_OUT =
  /\bJSON\.stringify\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*?,\s*(?:null|undefined)\s*,/g;
const LAID_OUT_IN_SQL = /\bjsonb?_pretty\s*\(/g;

/**
 * Finds places that write JSON with white space, which repeats the levels of a value for each of its
 * items: 98 KB become 19 MB.
 */
export function widenedJson(path: string, source: string): string[] {
  if (MAY_LAY_OUT.test(path)) return [];
  const isSql = path.endsWith(".sql");
  const found = source.replace(/\/\*[\s\S]*?\*\/|^\s*(?:\/\/|--).*$/gm, "")
    .matchAll(isSql ? LAID_OUT_IN_SQL : LAID_OUT);
  return Array.from(
    found,
    ([call]) =>
      `${path} lays JSON out by ${call}…: write it compactly${
        isSql ? " with ::text" : ", or with readableJson() of client/json_text.ts"
      }`,
  );
}
