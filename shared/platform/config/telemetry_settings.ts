import { withoutTrailing } from "../values/without_trailing.ts";

/** The destination and service name of traces. */
export interface TelemetrySettings {
  /** Accepts OTLP/HTTP `POST` requests as JSON. */
  readonly tracesEndpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
}

/** OpenTelemetry's own variables that the functions read. */
export interface OtelValues {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS: Readonly<Record<string, string>> | undefined;
  readonly OTEL_SERVICE_NAME: string | undefined;
  readonly OTEL_RESOURCE_ATTRIBUTES: Readonly<Record<string, string>> | undefined;
}

const DEFAULT_SERVICE_NAME = "supaswarm";

/** The settings according to OpenTelemetry's rules, or null if no endpoint is set. */
export function toTelemetrySettings(values: OtelValues): TelemetrySettings | null {
  const tracesEndpoint = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    signalEndpoint(values.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (tracesEndpoint === undefined) return null;
  const resourceAttributes = values.OTEL_RESOURCE_ATTRIBUTES ?? {};
  return {
    tracesEndpoint,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: values.OTEL_SERVICE_NAME ?? resourceAttributes["service.name"] ??
      DEFAULT_SERVICE_NAME,
    resourceAttributes,
  };
}

/** The general endpoint is a base URL: each signal has its own path below it. */
function signalEndpoint(base: string | undefined): string | undefined {
  if (base === undefined) return undefined;
  const url = new URL(base);
  url.pathname = `${withoutTrailing(url.pathname, "/")}/v1/traces`;
  return url.href;
}
