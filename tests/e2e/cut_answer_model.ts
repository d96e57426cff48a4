/** A model with the Chat Completions wire format whose first streamed answer loses its connection. */
export interface CutModel extends AsyncDisposable {
  /** For `llm_providers.base_url`. */
  readonly baseUrl: string;
  /** False while all answers were requested whole, as by an isolate that is short of CPU. */
  readonly hasStreamed: boolean;
  /** Cuts the first streamed answer, which otherwise never ends. Call it after that one began. */
  cut(): void;
}

const BASE = { id: "cut", object: "chat.completion.chunk", created: 0, model: "cut" };

/**
 * Serves one on 127.0.0.1. Later answers are whole.
 *
 * @param script The first streamed answer begins when what `begins` returns resolves. Text that is
 *   streamed before a client has joined the channel does not reach it.
 */
export function cutAnswerOnce(
  { first, second, begins }: {
    readonly first: string;
    readonly second: string;
    readonly begins: () => Promise<void>;
  },
): CutModel {
  const cut = Promise.withResolvers<void>();
  let streamCount = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (asked) => {
      const { stream } = await asked.json();
      if (!stream) return wholeAnswer(second);
      const isFirst = ++streamCount === 1;
      const body = new ReadableStream({
        async start(controller) {
          if (isFirst) await Promise.race([begins(), cut.promise]);
          controller.enqueue(chunk({ content: isFirst ? first : second }, null));
          if (isFirst) {
            await cut.promise;
            controller.error(new Error("The test cuts this answer"));
            return;
          }
          controller.enqueue(chunk({}, "stop"));
          controller.enqueue(new TextEncoder().encode("data: [DONE]\n\n"));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  );
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    get hasStreamed() {
      return streamCount > 0;
    },
    cut: cut.resolve,
    async [Symbol.asyncDispose]() {
      cut.resolve();
      await server.shutdown();
    },
  };
}

function chunk(delta: Readonly<Record<string, string>>, finish_reason: "stop" | null): Uint8Array {
  const choices = [{ index: 0, delta, finish_reason }];
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const data = { ...BASE, choices, usage: finish_reason === null ? null : usage };
  return new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`);
}

function wholeAnswer(content: string): Response {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return Response.json({ ...BASE, object: "chat.completion", choices, usage });
}
