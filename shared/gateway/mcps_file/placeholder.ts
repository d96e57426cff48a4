/** A value of `headers` or `query` that ends in a secret: `{{org_env}}`, optionally after text. */
export interface Placeholder {
  /** The key in the entry's `credentials`. */
  readonly key: string;
  readonly prefix: string;
}

const WHOLE = /^([^{}]*)\{\{\s*([a-z0-9_]+)\s*\}\}$/;

/** The placeholder at the end of a value; null if there is none. */
export function placeholderIn(value: string): Placeholder | "malformed" | null {
  if (!/\{\{|\}\}/.test(value)) return null;
  const [, prefix = "", key = ""] = WHOLE.exec(value) ?? [];
  return key === "" ? "malformed" : { key, prefix };
}
