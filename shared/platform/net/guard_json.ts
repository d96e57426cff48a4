import type { Bytes } from "../values/bytes.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { JsonExcess, JsonLimits } from "../json/json_limits.ts";
import { JsonMeter } from "../json/json_meter.ts";
import { describeExcess } from "../json/parse_json.ts";
import { SseMeter } from "../json/sse_meter.ts";
import { yieldTurn } from "../values/in_turns.ts";

/** Maximum chunk size for a reader, because it parses each chunk without yielding. */
const PIECE_BYTES = 32_768;
/** After this much work, other timers get their turn. */
const BYTES_A_TURN = 65_536;

/** The runtime's type, which differs between versions. */
type Body = NonNullable<Response["body"]>;
type Chunk = Body extends ReadableStream<infer C> ? C : never;

/**
 * Limits a response for readers that parse JSON themselves: the body is measured while it is read,
 * and reading fails if it exceeds the limits, before they can parse it. In a stream of server-sent
 * events each event is a document.
 *
 * @param onExceeded Called when that happens, for readers that hide a stream's error.
 */
export function guardJson(
  response: Response,
  limits: JsonLimits,
  onExceeded: (error: SwarmError) => void = () => {},
): Response {
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const body = measuredBody(response.body, headers, limits, (excess) => {
    const error = answerTooLarge(excess);
    onExceeded(error);
    return error;
  });
  return new Response(body, { status, statusText, headers });
}

/** A body that fails with the error of `toError` for the first exceeded limit. */
function measuredBody(
  body: Body,
  headers: Headers,
  limits: JsonLimits,
  toError: (excess: JsonExcess) => Error,
): Body {
  const isStream = /text\/event-stream/i.test(headers.get("content-type") ?? "");
  const meter = isStream ? new SseMeter(limits) : new JsonMeter(limits);
  const reader = body.getReader();
  let rest: Bytes = new Uint8Array(0);
  let bytesInTurn = 0;
  return new ReadableStream<Chunk>({
    async pull(controller) {
      while (rest.byteLength === 0) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        rest = value;
      }
      const piece = rest.subarray(0, PIECE_BYTES);
      rest = rest.subarray(PIECE_BYTES);
      const excess = meter.feed(piece);
      if (excess !== null) {
        const error = toError(excess);
        controller.error(error);
        await reader.cancel(error);
        return;
      }
      bytesInTurn += piece.byteLength;
      if (bytesInTurn >= BYTES_A_TURN) {
        bytesInTurn = 0;
        await yieldTurn();
      }
      controller.enqueue(piece);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

function answerTooLarge(excess: JsonExcess): SwarmError {
  return new SwarmError("OUTPUT_TOO_LARGE", `Cannot read the answer: ${describeExcess(excess)}`, {
    hint: "Ask for less, for example a page or a filtered list.",
    details: { ...excess },
  });
}
