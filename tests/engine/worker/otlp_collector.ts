import { type HttpFixture, startHttpServer } from "../../gateway/tools/http_fixture.ts";

/** A span that a collector received. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** `faas.name` of the resource. */
  readonly from: unknown;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** An OTLP/HTTP collector on loopback. */
export interface OtlpCollector {
  readonly server: HttpFixture;
  /** Every span so far. */
  spans(): readonly CollectedSpan[];
}

/** Starts a collector whose responses `answer` returns. */
export function startCollector(
  answer: () => Response | Promise<Response> = () => new Response("{}"),
): OtlpCollector {
  const server = startHttpServer(answer);
  return { server, spans: () => server.seen.flatMap(({ body }) => spansIn(body)) };
}

/** The spans without a parent among them. */
export function rootsOf(spans: readonly CollectedSpan[]): CollectedSpan[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId));
}

function spansIn(body: string): CollectedSpan[] {
  return JSON.parse(body).resourceSpans.flatMap(
    // In OTLP's JSON format; the tests check the parts that they read.
    // deno-lint-ignore no-explicit-any
    ({ resource, scopeSpans }: any) =>
      // deno-lint-ignore no-explicit-any
      scopeSpans.flatMap(({ spans }: any) =>
        // deno-lint-ignore no-explicit-any
        spans.map((span: any) => ({
          ...span,
          attributes: toRecord(span.attributes),
          isError: span.status.code === 2,
          from: toRecord(resource.attributes)["faas.name"],
        }))
      ),
  );
}

function toRecord(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
