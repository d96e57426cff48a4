import { ERROR_CODES } from "../../shared/platform/errors/codes.ts";

/** Codes in these files are only listed or invented, so they prove nothing. */
const NO_PROOF =
  /^(shared\/platform\/errors\/codes_test\.ts|tests\/conformance\/fixture\/|tests\/fixtures\/)/;
const IS_TEST = /^(tests\/.*\.ts|supabase\/tests\/.*\.sql|.*_test\.ts)$/;

/** Whether a file can prove that an error code is reached. */
export function isCodeProof(path: string): boolean {
  return IS_TEST.test(path) && !NO_PROOF.test(path);
}

/** Returns one problem for each error code that no test expects. */
export function untestedCodes(
  tests: Iterable<string>,
  codes: readonly string[] = Object.keys(ERROR_CODES),
): string[] {
  const found = new Set<string>();
  for (const text of tests) {
    for (const [word] of text.matchAll(/\b[A-Z][A-Z_]*[A-Z]\b/g)) found.add(word);
  }
  return codes.filter((code) => !found.has(code))
    .map((code) => `${code}: no test expects this error code; add one that reaches it`);
}
