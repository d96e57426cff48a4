/** The JSON pointer (RFC 6901) to a member or item of the value at a pointer. */
export function pointerTo(parent: string, name: string | number): string {
  return `${parent}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
