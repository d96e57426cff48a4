import { withoutFenceTags } from "../../../gateway/tool_contracts/fence_data.ts";

/** Maximum length of a stored path in characters. */
const MAX_PATH_CHARS = 1_024;

/**
 * Whether a path can name a document: relative, with `/` between parts that are neither empty nor
 * `.` nor `..`, and without control characters, backslashes or invalid Unicode (U+FFFD). It must
 * not contain the tag of a fence either, because paths are shown outside of fences.
 */
export function isDocumentPath(path: string): boolean {
  if (path.length === 0 || path.length > MAX_PATH_CHARS || !path.isWellFormed()) return false;
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f\\\ufffd]/.test(path)) return false;
  if (withoutFenceTags(path) !== path) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
