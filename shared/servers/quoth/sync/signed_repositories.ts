import { Buffer } from "node:buffer";

/** The member that names a payload's repository. */
const MARKER = "full_name";
/** Maximum number of examined places and names: a genuine payload has few. */
const MAX_PLACES = 32;
const MAX_NAMES = 4;
/** Longer than any name with its surroundings. */
const PLACE_BYTES = 260;

const JSON_NAME = /^"\s{0,8}:\s{0,8}"([\w.-]{1,100})\\?\/([\w.-]{1,100})"/;
/** In a form the JSON is percent-encoded. */
const FORM_NAME = /^%22(?:%20|\+){0,8}%3A(?:%20|\+){0,8}%22([\w.-]{1,100})%2F([\w.-]{1,100})%22/i;

/**
 * The repositories named in an unverified body, as `owner/name`, at most four: only their secrets
 * are tried. The bytes are searched for one word without parsing, which takes linear time and no
 * memory.
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
