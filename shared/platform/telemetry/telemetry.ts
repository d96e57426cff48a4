import type { TelemetrySettings } from "../config/telemetry_settings.ts";
import type { Logger } from "../log/logger.ts";
import { createRedactor } from "../secrets/redact.ts";
import type { Span } from "./span.ts";
import { SpanExporter } from "./span_exporter.ts";
import { isSampled } from "./span_context.ts";

/** The spans of one edge function. No method throws; only the last two wait for the collector. */
export interface Telemetry {
  /** False if no endpoint is set: trace contexts are then passed on unchanged. */
  readonly isOn: boolean;
  /** Adds a finished span; a span of an unsampled trace is dropped. */
  add(span: Span): void;
  flush(): Promise<void>;
  /** Sends waiting spans before the isolate retires. */
  close(): Promise<void>;
}

interface TelemetryOptions {
  /** Undefined if no endpoint is set. */
  readonly settings: TelemetrySettings | undefined;
  /** The edge function that creates the spans. */
  readonly functionName: string;
  /** Secret values that must not be exported in any name. */
  readonly secrets: readonly string[];
  readonly log: Logger;
}

/** Records nothing and passes trace contexts on unchanged, as OpenTelemetry specifies. */
export const NO_TELEMETRY: Telemetry = {
  isOn: false,
  add: () => {},
  flush: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/** Creates an edge function's telemetry; it exports only if an endpoint is set. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { settings, functionName, secrets, log } = options;
  if (settings === undefined) return NO_TELEMETRY;
  const exporter = new SpanExporter({
    endpoint: settings.tracesEndpoint,
    headers: settings.headers,
    resource: {
      "faas.name": functionName,
      ...settings.resourceAttributes,
      "service.name": settings.serviceName,
    },
    redact: createRedactor(secrets).text,
    log,
  });
  const add = (span: Span) => {
    if (isSampled(span.context)) exporter.add(span);
  };
  return {
    isOn: true,
    add,
    flush: () => exporter.flush(),
    close: () => exporter.close(),
  };
}
