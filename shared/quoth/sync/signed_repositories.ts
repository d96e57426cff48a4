import { Buffer } from "node:buffer";

/** The name of the member that says which repository a payload is from. */
const MARKER = "full_name";
/** Places that are looked at, and names that are taken from them: an honest payload has few. */
const MAX_PLACES = 32;
const MAX_NAMES = 4;
/** Longer than a name can be, with what stands around it. */
const PLACE_BYTES = 260;

const JSON_NAME = /^"\s{0,8}:\s{0,8}"([\w.-]{1,100})\\?\/([\w.-]{1,100})"/;
/** In a form the JSON is percent-encoded. */
const FORM_NAME = /^%22(?:%20|\+){0,8}%3A(?:%20|\+){0,8}%22([\w.-]{1,100})%2F([\w.-]{1,100})%22/i;

/**
 * The repositories that an unsigned body speaks of, as `owner/name`, at most four: only whose
 * secrets are worth trying. The bytes are searched for one word and nothing is parsed, whatever the
 * body is: that takes time in proportion to its size and no memory.
 */
export function namedRepositories(body: Uint8Array): string[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const names = new Set<string>();
  let place = bytes.indexOf(MARKER);
  for (let count = 0; count < MAX_PLACES && place !== -1 && names.size < MAX_NAMES; count++) {
    const start = place + MARKER.length;
    const near = bytes.toString("latin1", start, start + PLACE_BYTES);
    const [, owner, name] = JSON_NAME.exec(near) ?? FORM_NAME.exec(near) ?? [];
    if (owner !== undefined && name !== undefined) names.add(`${owner}/${name}`.toLowerCase());
    place = bytes.indexOf(MARKER, start);
  }
  return [...names];
}
