import { toStorableText } from "../../storable_json.ts";

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * A file's text in the one form that is split, hashed and stored: no byte order mark, lines end in
 * LF, and nothing that Postgres refuses. No line is added or removed, so line numbers stay those of
 * the file; a CR without LF ends no line for Git either and becomes a blank.
 */
export function normalizeSource(source: string): string {
  const text = source.startsWith(BYTE_ORDER_MARK) ? source.slice(1) : source;
  return toStorableText(text.replaceAll("\r\n", "\n").replaceAll("\r", " "));
}
