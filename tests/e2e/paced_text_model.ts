/** A model with the Chat Completions wire format that writes as fast as the test allows. */
export interface PacedTextModel extends AsyncDisposable {
  /** For `llm_providers.base_url`. */
  readonly baseUrl: string;
  /** How many calls it got. */
  readonly calls: number;
  /** Whether the newest call asked for a stream; workers with little CPU left do not. */
  readonly streams: boolean;
  /** Lets this many more pieces of the answers go. */
  release(count: number): void;
  /**
   * Breaks off the answers that are being written. That of a job that ended would take pieces that
   * are meant for the next one.
   */
  cut(): void;
}

/** The messages of a call. */
export interface AskedMessage {
  readonly role: string;
  readonly content: unknown;
}

const BASE = { id: "paced", object: "chat.completion.chunk", created: 0, model: "paced" };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/**
 * Serves one on 127.0.0.1.
 *
 * @param write The pieces of an answer, by the messages and the number of the call from 1 on.
 */
export function startPacedTextModel(
  write: (messages: readonly AskedMessage[], call: number) => readonly string[],
): PacedTextModel {
  let calls = 0;
  let allowed = 0;
  let wake = Promise.withResolvers<void>();
  let cuts = 0;
  let streams = false;
  const change = () => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (asked) => {
      const { stream, messages } = await asked.json();
      const pieces = write(messages, ++calls);
      streams = stream === true;
      const cutsBefore = cuts;
      if (!stream) {
        while (allowed < pieces.length && cuts === cutsBefore) await wake.promise;
        if (cuts > cutsBefore) return new Response(null, { status: 502 });
        allowed -= pieces.length;
        return wholeAnswer(pieces.join(""));
      }
      let isGone = false;
      const body = new ReadableStream({
        async start(controller) {
          for (const content of pieces) {
            while (allowed === 0 && cuts === cutsBefore && !isGone) await wake.promise;
            if (isGone) return;
            if (cuts > cutsBefore) {
              return controller.error(new Error("The test cuts this answer"));
            }
            allowed--;
            controller.enqueue(chunk({ content }, null));
          }
          controller.enqueue(chunk({}, "stop"));
          controller.enqueue(new TextEncoder().encode("data: [DONE]\n\n"));
          controller.close();
        },
        cancel() {
          isGone = true;
          change();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  );
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    get calls() {
      return calls;
    },
    get streams() {
      return streams;
    },
    release(count) {
      allowed += count;
      change();
    },
    cut() {
      cuts++;
      change();
    },
    async [Symbol.asyncDispose]() {
      allowed = Infinity;
      change();
      await server.shutdown();
    },
  };
}

function chunk(delta: Readonly<Record<string, string>>, finish_reason: "stop" | null): Uint8Array {
  const choices = [{ index: 0, delta, finish_reason }];
  const data = { ...BASE, choices, usage: finish_reason === null ? null : USAGE };
  return new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`);
}

function wholeAnswer(content: string): Response {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  return Response.json({ ...BASE, object: "chat.completion", choices, usage: USAGE });
}
