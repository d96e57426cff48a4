import { z } from "../../shared/vendor/zod.js";

/** A model with the Chat Completions wire format that answers slowly. */
export interface SlowModel extends AsyncDisposable {
  /** For `llm_providers.base_url`. */
  readonly baseUrl: string;
  /** The numbers of streamed and of complete answers. */
  readonly counts: { readonly streamed: number; readonly whole: number };
}

/** The duration and the number of pieces of an answer. */
export interface SlowAnswer {
  readonly pieces: number;
  readonly pieceEachMs: number;
  /** An answer begins when this resolves. @default immediately */
  readonly begins?: () => Promise<void>;
}

const request = z.object({ stream: z.boolean().optional() });
const BASE = { id: "slow", created: 0, model: "slow" };
const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const PIECE = "one more line of an answer\n";

/** Serves a slow model on 127.0.0.1. */
export function startSlowModel({ pieces, pieceEachMs, begins }: SlowAnswer): SlowModel {
  const counts = { streamed: 0, whole: 0 };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (asked) => {
      const { stream } = request.parse(await asked.json());
      await begins?.();
      if (stream) {
        counts.streamed++;
        const headers = { "content-type": "text/event-stream" };
        return new Response(ReadableStream.from(streamAnswer(pieces, pieceEachMs)), { headers });
      }
      counts.whole++;
      await pause(pieces * pieceEachMs);
      const message = { role: "assistant", content: PIECE.repeat(pieces) };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      return Response.json({ ...BASE, object: "chat.completion", choices, usage: USAGE });
    },
  );
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    counts,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function* streamAnswer(pieces: number, pieceEachMs: number): AsyncGenerator<Uint8Array> {
  const beganAtMs = performance.now();
  for (let n = 1; n <= pieces; n++) {
    yield chunk({ content: PIECE }, null);
    // Use the clock, so that slow timers do not delay the answer.
    await pause(Math.max(0, beganAtMs + n * pieceEachMs - performance.now()));
  }
  yield chunk({}, "stop");
  yield new TextEncoder().encode("data: [DONE]\n\n");
}

function chunk(delta: Readonly<Record<string, string>>, finish_reason: "stop" | null): Uint8Array {
  const choices = [{ index: 0, delta, finish_reason }];
  const usage = finish_reason === null ? null : USAGE;
  const data = { ...BASE, object: "chat.completion.chunk", choices, usage };
  return new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`);
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
