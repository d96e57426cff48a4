/** The fences that mark data for a model; a person reads only the text between them. */
const FENCE = /<\/?untrusted_data\b[^>]*>\n?/g;

/**
 * Removes the tags that fence untrusted data. The result stays text and is never parsed as HTML.
 */
export function withoutFences(text: string): string {
  return text.replace(FENCE, "");
}
