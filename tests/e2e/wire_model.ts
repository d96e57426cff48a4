import type { JsonObject } from "../../shared/platform/values/json.ts";
import { formatOf, type WireAnswer } from "../models/llm/wire_format.ts";

/** The wire formats of models; `responses` is the Responses API of OpenAI. */
export const WIRES = ["openai", "responses", "anthropic", "google"] as const;

/** See {@linkcode WIRES}. */
export type Wire = (typeof WIRES)[number];

/** A model that answers in the wire format of the request. */
export interface WireModel extends AsyncDisposable {
  /** For `llm_providers.base_url` of this wire. */
  baseUrlOf(wire: Wire): string;
  /** The bodies of the requests since the last `play()`. */
  readonly bodies: readonly JsonObject[];
  /** Answers the next requests with these, and all further ones with the last. */
  play(...answers: readonly WireAnswer[]): void;
}

/** Serves one on 127.0.0.1. It streams when it is asked to. */
export function startWireModel(): WireModel {
  let answers: readonly WireAnswer[] = [];
  let bodies: JsonObject[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (asked) => {
      const { pathname, searchParams } = new URL(asked.url);
      const body = await asked.json();
      const answer = answers[bodies.length] ?? answers.at(-1) ?? {};
      bodies.push(body);
      if (pathname.endsWith("/responses")) {
        return body.stream === true ? streamOf(responsesEvents(answer)) : wholeResponse(answer);
      }
      const format = formatOf(
        pathname.endsWith("/messages")
          ? "anthropic"
          : pathname.endsWith("/chat/completions")
          ? "openai"
          : "google",
      );
      return body.stream === true || searchParams.get("alt") === "sse"
        ? streamOf(format.events(answer))
        : Response.json(format.whole(answer));
    },
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  return {
    baseUrlOf: (wire) => wire === "openai" || wire === "responses" ? `${origin}/v1` : origin,
    get bodies() {
      return bodies;
    },
    play(...next) {
      answers = next;
      bodies = [];
    },
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}

function streamOf(events: readonly string[]): Response {
  return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
}

function wholeResponse(answer: WireAnswer): Response {
  return Response.json(responseOf(answer));
}

function responsesEvents(answer: WireAnswer): string[] {
  const { text = "" } = answer;
  const middle = Math.ceil(text.length / 2);
  const index = 0;
  return [
    ...[text.slice(0, middle), text.slice(middle)].map((delta) =>
      data({ type: "response.output_text.delta", output_index: index, delta })
    ),
    data({
      type: answer.stop === "length" ? "response.incomplete" : "response.completed",
      response: responseOf(answer),
    }),
    "data: [DONE]\n\n",
  ];
}

function responseOf({ text = "", calls = [], stop = "stop" }: WireAnswer): JsonObject {
  return {
    object: "response",
    status: stop === "length" ? "incomplete" : "completed",
    incomplete_details: stop === "length" ? { reason: "max_output_tokens" } : null,
    output: [
      { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
      ...calls.map(({ name, argumentsText }, index) => ({
        type: "function_call",
        call_id: `call_${index}`,
        name,
        arguments: argumentsText,
      })),
    ],
    usage: { input_tokens: 10, output_tokens: 5 },
  };
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
