import { z } from "../../../shared/vendor/zod.js";

const requestSchema = z.looseObject({
  stream: z.boolean().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
});

/** A request that the server received. */
export type ModelRequestBody = z.infer<typeof requestSchema>;

/** A model with OpenAI's API whose chunks the test controls. */
export interface StreamingModel extends AsyncDisposable {
  /** With the version, as in `llm_providers.base_url`. */
  readonly url: string;
  readonly requests: readonly ModelRequestBody[];
  /** The chunks of the next answers; a promise holds the stream. */
  script: readonly (string | Promise<string>)[];
  /** Resolves when a client disconnected before its answer was complete. */
  readonly abandoned: Promise<void>;
}

/** Starts the model on a free port. */
export function startStreamingModel(): StreamingModel {
  const requests: ModelRequestBody[] = [];
  const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>();
  const model: { script: StreamingModel["script"] } = { script: [] };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = requestSchema.parse(await request.json());
      requests.push(body);
      const pieces = [...model.script];
      if (body.stream !== true) return Response.json(wholeAnswer(await Promise.all(pieces)));
      return new Response(streamOf(pieces, abandon), {
        headers: { "content-type": "text/event-stream" },
      });
    },
  );
  return Object.assign(model, {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    requests,
    abandoned,
    [Symbol.asyncDispose]: () => server.shutdown(),
  });
}

const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };

function wholeAnswer(pieces: readonly string[]) {
  const message = { role: "assistant", content: pieces.join("") };
  return {
    id: "answer",
    object: "chat.completion",
    created: 1,
    model: "streaming",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: USAGE,
  };
}

function streamOf(
  pieces: readonly (string | Promise<string>)[],
  abandon: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const chunk = (choice: object, rest: object = {}) => {
    const head = { id: "answer", object: "chat.completion.chunk", created: 1, model: "streaming" };
    return encoder.encode(`data: ${JSON.stringify({ ...head, choices: [choice], ...rest })}\n\n`);
  };
  let isGone = false;
  return new ReadableStream({
    async start(controller) {
      for (const piece of pieces) {
        const content = await piece;
        if (isGone) return;
        controller.enqueue(chunk({ index: 0, delta: { role: "assistant", content } }));
      }
      if (isGone) return;
      controller.enqueue(chunk({ index: 0, delta: {}, finish_reason: "stop" }, { usage: USAGE }));
      controller.enqueue(encoder.encode("data: [DONE]\n\n"));
      controller.close();
    },
    cancel() {
      isGone = true;
      abandon();
    },
  });
}
