/** A value of `headers` or `query` that ends in a secret: `{{org_env}}`, or a text before it. */
export interface Placeholder {
  /** Of the entry's `credentials`. */
  readonly key: string;
  readonly prefix: string;
}

const WHOLE = /^([^{}]*)\{\{\s*([a-z0-9_]+)\s*\}\}$/;

/** The placeholder that a value ends in; null when it has none. */
export function placeholderIn(value: string): Placeholder | "malformed" | null {
  if (!/\{\{|\}\}/.test(value)) return null;
  const [, prefix = "", key = ""] = WHOLE.exec(value) ?? [];
  return key === "" ? "malformed" : { key, prefix };
}
