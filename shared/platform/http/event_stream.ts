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
