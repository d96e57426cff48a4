/** The fences that mark data for a model; a person reads what stands between them. */
const FENCE = /<\/?untrusted_data\b[^>]*>\n?/g;

/** A text without the tags that fence untrusted data. It stays text, and is never read as HTML. */
export function withoutFences(text: string): string {
  return text.replace(FENCE, "");
}
