import type { Bytes } from "../../../../../platform/values/bytes.ts";

/** The runtime's type, which differs between versions. */
type Chunk = NonNullable<Response["body"]> extends ReadableStream<infer C> ? C : never;

const MARK_BYTES = 2;

/**
 * The response in UTF-8, which is measured and split by its bytes. Its character set is that of a
 * byte order mark, otherwise of its media type; a missing or unknown one is UTF-8.
 */
export function inUtf8(response: Response): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const named = charsetOf(headers.get("content-type") ?? "");
  const encoder = new TextEncoder();
  let start: Bytes = new Uint8Array(0);
  /** Undefined until the first bytes have arrived; null if they are UTF-8 already. */
  let decoder: TextDecoder | null | undefined;
  const read = (bytes: Bytes) =>
    decoder ? encoder.encode(decoder.decode(bytes, { stream: true })) : bytes;
  const converted = body.pipeThrough(
    new TransformStream<Chunk, Chunk>({
      transform(chunk, controller) {
        let bytes: Bytes = chunk;
        if (decoder === undefined) {
          bytes = new Uint8Array(start.byteLength + chunk.byteLength);
          bytes.set(start);
          bytes.set(chunk, start.byteLength);
          start = bytes;
          if (bytes.byteLength < MARK_BYTES) return;
          decoder = decoderOf(markedCharset(bytes) ?? named);
        }
        controller.enqueue(read(bytes));
      },
      flush(controller) {
        if (decoder === undefined) controller.enqueue(start);
        else if (decoder !== null) controller.enqueue(encoder.encode(decoder.decode()));
      },
    }),
  );
  return new Response(converted, { status, statusText, headers });
}

function charsetOf(contentType: string): string {
  return /charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? "utf-8";
}

/** Of UTF-16; the mark of UTF-8 changes nothing. */
function markedCharset([first, second]: Bytes): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** Null for UTF-8, which needs no conversion, and for what the runtime does not know. */
function decoderOf(charset: string): TextDecoder | null {
  try {
    const decoder = new TextDecoder(charset);
    return decoder.encoding === "utf-8" ? null : decoder;
  } catch {
    return null;
  }
}
