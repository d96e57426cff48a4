/**
 * Decodes a text file: UTF-8, or UTF-16 with a byte order mark, as some editors write it.
 *
 * @throws TypeError if the bytes are not text in that encoding.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding = first === 0xff && second === 0xfe
    ? "utf-16le"
    : first === 0xfe && second === 0xff
    ? "utf-16be"
    : "utf-8";
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}
