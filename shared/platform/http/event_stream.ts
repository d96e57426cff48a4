/** Sends one event; dropped if the client has disconnected. */
export type SendEvent = (event: string, data: object) => void;

/** Interval of comments in an idle stream, which detect a disconnected client. */
const SIGN_OF_LIFE_MS = 2_000;

/** Whether a request asks for server-sent events. */
export function wantsEventStream({ headers }: Request): boolean {
  const accepted = headers.get("accept")?.toLowerCase() ?? "";
  return accepted.split(",").some((type) => type.split(";")[0]?.trim() === "text/event-stream");
}

/**
 * Responds with server-sent events, which `work` sends.
 *
 * @param work Its signal aborts when the client disconnects. Must not throw.
 */
export function eventStreamResponse(
  work: (send: SendEvent, signal: AbortSignal) => Promise<void>,
): Response {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string) => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      timer = setInterval(() => write(":\n\n"), SIGN_OF_LIFE_MS);
      const send: SendEvent = (event, data) =>
        write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      work(send, gone.signal).finally(() => {
        clearInterval(timer);
        if (!gone.signal.aborted) controller.close();
      });
    },
    cancel() {
      clearInterval(timer);
      gone.abort(new DOMException("The client disconnected", "AbortError"));
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" },
  });
}

/** A stream of messages without a name, as protocols of chat pages have it. */
export interface MessageStream {
  /** The data of each message. Its signal aborts when the client disconnects, or at the limits. */
  readonly messages: (signal: AbortSignal) => AsyncIterable<string>;
  /** @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** The stream ends after a message that exceeds this. */
  readonly maxBytes: number;
  /** The stream ends after this time, before the platform ends its isolate. */
  readonly maxMs: number;
  /** Whether the isolate has too little left to go on. */
  readonly isOver: () => boolean;
}

/**
 * Responds with server-sent events that have only data. A stream that reaches a limit ends without
 * an error, after a whole message.
 */
export function messageStreamResponse(
  { messages, headers = {}, maxBytes, maxMs, isOver }: MessageStream,
): Response {
  const end = new AbortController();
  let isGone = false;
  const encoder = new TextEncoder();
  let timers: readonly ReturnType<typeof setInterval>[] = [];
  const stop = (reason: string) => {
    for (const timer of timers) clearInterval(timer);
    end.abort(new DOMException(reason, "AbortError"));
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timers = [
        setInterval(() => {
          if (isOver()) stop("The isolate ends");
          else controller.enqueue(encoder.encode(":\n\n"));
        }, SIGN_OF_LIFE_MS),
        setTimeout(() => stop("The stream has lasted long enough"), maxMs),
      ];
      let sentBytes = 0;
      const work = async () => {
        for await (const data of messages(end.signal)) {
          if (isGone) return;
          const bytes = encoder.encode(`data: ${data}\n\n`);
          controller.enqueue(bytes);
          sentBytes += bytes.byteLength;
          if (sentBytes > maxBytes) return;
        }
      };
      work().then(undefined, () => {}).finally(() => {
        stop("The stream has ended");
        if (!isGone) controller.close();
      });
    },
    cancel() {
      isGone = true;
      stop("The client disconnected");
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      ...headers,
    },
  });
}
