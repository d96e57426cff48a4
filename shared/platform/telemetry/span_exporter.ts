import type { Logger } from "../log/logger.ts";
import { readText } from "../net/read_text.ts";
import { type RedactText, toOtlpTraces } from "./otlp_traces.ts";
import type { Span, SpanAttributes } from "./span.ts";

interface SpanExporterOptions {
  /** Accepts OTLP/HTTP as JSON. It is the operator's own setting, so every address is allowed. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: SpanAttributes;
  readonly redact: RedactText;
  readonly log: Logger;
  /** @default 5000 */
  readonly timeoutMs?: number;
}

/** More spans are dropped: an unavailable collector must not exhaust the worker's memory. */
const MAX_QUEUED_SPANS = 2_048;
const MAX_BATCH_SPANS = 512;
const SEND_DELAY_MS = 1_000;
const DEFAULT_TIMEOUT_MS = 5_000;
const MAX_PAUSE_MS = 60_000;
const MAX_ANSWER_BYTES = 10_000;
/** Statuses after which the same batch may be sent again, according to the OTLP specification. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type Delivery = "sent" | "refused" | "unavailable";

/**
 * Sends spans to an OTLP endpoint in the background, in batches. Adding a span never waits or
 * throws: while the endpoint is unavailable, spans wait in a bounded queue, and excess spans are
 * counted and dropped.
 */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  #queue: Span[] = [];
  #sending: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failureCount = 0;
  #resumeAtMs = 0;
  #droppedCount = 0;
  #hasWarned = false;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  /** Adds a span; it is sent a little later, together with others. */
  add(span: Span): void {
    if (this.#queue.length >= MAX_QUEUED_SPANS) return this.#drop(1, "the queue is full");
    this.#queue.push(span);
    if (this.#queue.length === MAX_BATCH_SPANS) void this.flush();
    this.#sendLater();
  }

  /** Sends waiting spans, unless the endpoint has just failed. Never throws. */
  async flush(): Promise<void> {
    if (performance.now() >= this.#resumeAtMs) await this.#send();
  }

  /** Sends waiting spans with one last try and drops the rest; the exporter can be used again. */
  async close(): Promise<void> {
    await this.#send();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#queue.length > 0) this.#drop(this.#queue.length, "the endpoint does not respond");
    this.#queue = [];
    if (this.#droppedCount === 0) return;
    this.#options.log("warn", "telemetry.spans_dropped", { count: this.#droppedCount });
    this.#droppedCount = 0;
  }

  #sendLater(): void {
    if (this.#timer !== undefined || this.#sending !== null || this.#queue.length === 0) return;
    const pauseMs = Math.max(SEND_DELAY_MS, this.#resumeAtMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.flush();
    }, pauseMs);
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendBatches().finally(() => {
      this.#sending = null;
      this.#sendLater();
    });
    return this.#sending;
  }

  async #sendBatches(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, MAX_BATCH_SPANS);
      const delivery = await this.#post(batch);
      if (delivery === "unavailable") return this.#pauseWith(batch);
      this.#failureCount = 0;
      if (delivery === "refused") this.#drop(batch.length, "the endpoint rejected them");
    }
  }

  async #post(batch: readonly Span[]): Promise<Delivery> {
    const { endpoint, headers, resource, redact, timeoutMs } = this.#options;
    try {
      const response = await fetch(endpoint, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(toOtlpTraces(batch, resource, redact)),
        // The headers must not be sent to an address that the operator did not configure.
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs ?? DEFAULT_TIMEOUT_MS),
      });
      const { text } = await readText(response, MAX_ANSWER_BYTES);
      if (response.ok) {
        this.#drop(rejectedCount(text), "the endpoint rejected some");
        return "sent";
      }
      this.#warn({ status: response.status });
      return RETRYABLE_STATUSES.has(response.status) ? "unavailable" : "refused";
    } catch (error) {
      this.#warn({ error: error instanceof Error ? error.name : "unknown" });
      return "unavailable";
    }
  }

  /** Keeps as much of a batch for later as fits. */
  #pauseWith(batch: readonly Span[]): void {
    const room = MAX_QUEUED_SPANS - this.#queue.length;
    this.#queue.unshift(...batch.slice(0, room));
    this.#drop(batch.length - Math.min(room, batch.length), "the queue is full");
    this.#failureCount += 1;
    const pauseMs = Math.min(MAX_PAUSE_MS, SEND_DELAY_MS * 2 ** this.#failureCount);
    this.#resumeAtMs = performance.now() + pauseMs;
  }

  #drop(count: number, reason: string): void {
    if (count === 0) return;
    if (this.#droppedCount === 0) this.#warn({ reason });
    this.#droppedCount += count;
  }

  /** Once per isolate: an unavailable collector must not fill the log. */
  #warn(fields: { status?: number; error?: string; reason?: string }): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.log("warn", "telemetry.export_failed", fields);
  }
}

/** Number of rejected spans in a batch that the endpoint accepted. */
function rejectedCount(answer: string): number {
  const [, count = "0"] = /"rejectedSpans"\s*:\s*"?(\d{1,6})/.exec(answer) ?? [];
  return Number(count);
}
