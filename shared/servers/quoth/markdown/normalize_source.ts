import { toStorableText } from "../../../platform/values/storable_json.ts";

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * A file's text in the form that is split, hashed and stored: no byte order mark, LF line ends, and
 * no characters that PostgreSQL rejects. Line numbers stay the same; a CR without LF does not end a
 * line for Git either and becomes a space.
 */
export function normalizeSource(source: string): string {
  const text = source.startsWith(BYTE_ORDER_MARK) ? source.slice(1) : source;
  return toStorableText(text.replaceAll("\r\n", "\n").replaceAll("\r", " "));
}
