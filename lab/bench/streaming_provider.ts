/**
 * A model provider in a separate process. It waits before its first token, then streams the others.
 * Answers each line of stdin with its URL and the time when a client last disconnected early.
 */
import { sleep } from "../../shared/platform/values/sleep.ts";
import { writeLine } from "../../scripts/terminal.ts";

/** Typical times of a hosted model for its first token, and for each later one. */
const FIRST_TOKEN_MS = 400;
const TOKEN_EACH_MS = 20;
const TOKENS = 60;
const USAGE = { prompt_tokens: 200, completion_tokens: TOKENS, total_tokens: 200 + TOKENS };

const encoder = new TextEncoder();
let abandonedAtMs: number | null = null;

const { addr } = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: () => {} },
  async (request) => {
    await request.body?.cancel();
    return new Response(streamAnswer(), { headers: { "content-type": "text/event-stream" } });
  },
);
for await (const _line of Deno.stdin.readable) {
  const url = `http://127.0.0.1:${addr.port}/v1`;
  writeLine(JSON.stringify({ url, abandoned_at_ms: abandonedAtMs }));
}

function streamAnswer(): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  return new ReadableStream({
    async start(controller) {
      const beganAtMs = performance.now();
      try {
        for (let token = 0; token < TOKENS; token++) {
          // Use the clock, so that slow timers do not delay the answer.
          const dueAtMs = beganAtMs + FIRST_TOKEN_MS + token * TOKEN_EACH_MS;
          await sleep(Math.max(0, dueAtMs - performance.now()), gone.signal);
          controller.enqueue(chunk({ delta: { content: "word " }, finish_reason: null }));
        }
        controller.enqueue(chunk({ delta: {}, finish_reason: "stop" }, { usage: USAGE }));
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        controller.close();
      } catch (error) {
        if (!gone.signal.aborted) throw error;
      }
    },
    cancel() {
      abandonedAtMs = Date.now();
      gone.abort();
    },
  });
}

function chunk(choice: object, rest: object = {}): Uint8Array {
  const head = { id: "answer", object: "chat.completion.chunk", created: 1, model: "streaming" };
  const data = { ...head, choices: [{ index: 0, ...choice }], ...rest };
  return encoder.encode(`data: ${JSON.stringify(data)}\n\n`);
}
