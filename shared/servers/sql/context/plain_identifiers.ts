/** A quoted identifier, with its prefix. */
const IDENTIFIER = /(u&)?"(?:[^"]|"")*"/gi;
/** What could leave a fence or a comment of a file, or hide from a reader of it. */
const UNSAFE = /`|--|<!|[\p{Bidi_Control}\p{Cc}]/gu;
/** The same outside of identifiers, where lines may end. */
const UNSAFE_OUTSIDE = /`|--|<!|[\p{Bidi_Control}]|(?![\n\t])\p{Cc}/u;

/**
 * A statement without comments and constants as text for a file: characters of identifiers that could
 * end a fence or a comment are written as Unicode escapes, so that the statement means the same. Null
 * if such a character is anywhere else.
 */
export function plainIdentifiers(sql: string): string | null {
  const plain = sql.replaceAll("\r\n", "\n").replace(IDENTIFIER, (name, prefix?: string) => {
    if (prefix !== undefined || !new RegExp(UNSAFE).test(name)) return name;
    return `U&${name.replaceAll("\\", "\\\\").replace(UNSAFE, toEscapes)}`;
  });
  return UNSAFE_OUTSIDE.test(plain) ? null : plain;
}

function toEscapes(text: string): string {
  return [...text].map((character) => `\\${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
