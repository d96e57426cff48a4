/** The beginning of a body as text, and whether it was truncated. */
export interface CappedText {
  readonly text: string;
  readonly isCut: boolean;
}

/**
 * Reads a response body as text up to `maxBytes` and cancels the rest: in the charset of its content
 * type, otherwise UTF-8. A character that crosses the limit is omitted.
 */
export async function readText(response: Response, maxBytes: number): Promise<CappedText> {
  if (response.body === null) return { text: "", isCut: false };
  const decoder = decoderFor(response.headers.get("content-type") ?? "");
  const reader = response.body.getReader();
  let text = "";
  let remaining = maxBytes;
  while (true) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), isCut: false };
    text += decoder.decode(value.subarray(0, remaining), { stream: true });
    remaining -= value.byteLength;
    if (remaining < 0) {
      await reader.cancel();
      return { text, isCut: true };
    }
  }
}

function decoderFor(contentType: string): TextDecoder {
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder(); // The runtime does not know this charset.
  }
}
