import {
  type HttpFixture,
  type SeenHttpRequest,
  startHttpServer,
} from "../../tools/http_fixture.ts";
import { WIRE_FORMATS, type WireAnswer } from "../../llm/wire_format.ts";

/** A server that says exactly what a test wants, in the place of a provider or an API. */
export function startRawServer(
  answer: (request: SeenHttpRequest) => Response,
): HttpFixture & AsyncDisposable {
  const server = startHttpServer(answer);
  return { ...server, [Symbol.asyncDispose]: () => server.stop() };
}

/** A streamed answer in the form of chat completions. */
export function streamed(answer: WireAnswer): Response {
  const format = WIRE_FORMATS.find(({ api }) => api === "openai");
  return new Response(format?.events(answer).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
}
