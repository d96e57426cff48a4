import {
  type HttpFixture,
  type SeenHttpRequest,
  startHttpServer,
} from "../../gateway/tools/http_fixture.ts";
import { formatOf, type WireAnswer } from "../../models/llm/wire_format.ts";

/** A server with exactly the responses of a test, in place of a provider or an API. */
export function startRawServer(
  answer: (request: SeenHttpRequest) => Response,
): HttpFixture & AsyncDisposable {
  const server = startHttpServer(answer);
  return { ...server, [Symbol.asyncDispose]: () => server.stop() };
}

/** A streamed answer in the chat completions format. */
export function streamed(answer: WireAnswer): Response {
  return new Response(formatOf("openai").events(answer).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
}
