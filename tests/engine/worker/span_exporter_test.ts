import assert from "node:assert/strict";
import type { OpenLogger } from "../../../shared/platform/log/logger.ts";
import { startHttpServer } from "../../gateway/tools/http_fixture.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import type { Span } from "../../../shared/platform/telemetry/span.ts";
import { newTrace } from "../../../shared/platform/telemetry/span_context.ts";
import { SpanExporter } from "../../../shared/platform/telemetry/span_exporter.ts";

function newSpan(): Span {
  const at = { startMs: 1, endMs: 2 };
  const context = newTrace();
  return {
    ...at,
    context,
    parentSpanId: null,
    name: "n",
    kind: "internal",
    attributes: {},
    errorCode: null,
  };
}

function open(endpoint: string, timeoutMs = 60_000) {
  const logged: { event: string; count: unknown }[] = [];
  const log: OpenLogger = (_level, event, fields) => {
    logged.push({ event, count: fields?.["count"] });
  };
  const exporter = new SpanExporter({
    endpoint,
    headers: { authorization: "Bearer key" },
    resource: { "service.name": "test" },
    redact: (text) => text,
    log,
    timeoutMs,
  });
  return { exporter, logged };
}

function spanCount(body: string): number {
  return JSON.parse(body).resourceSpans[0].scopeSpans[0].spans.length;
}

Deno.test("SpanExporter sends its spans automatically in one batch", async () => {
  const collector = startHttpServer(() => new Response("{}"));
  const { exporter, logged } = open(`${collector.url}/v1/traces`);

  for (let n = 0; n < 5; n++) exporter.add(newSpan());
  await waitFor(() => collector.seen.length === 1);
  await exporter.close();

  const [request] = collector.seen;
  assert.equal(spanCount(request?.body ?? ""), 5);
  assert.equal(request?.headers.get("content-type"), "application/json");
  assert.equal(request?.headers.get("authorization"), "Bearer key");
  assert.deepEqual(logged, []);
  await collector.stop();
});

Deno.test("SpanExporter keeps spans while the collector is unavailable and sends them at the end", async () => {
  let status = 503;
  const collector = startHttpServer(() => new Response("{}", { status }));
  const { exporter, logged } = open(collector.url);

  exporter.add(newSpan());
  await exporter.flush();
  exporter.add(newSpan());
  await exporter.flush();
  assert.equal(collector.seen.length, 1, "an unavailable collector gets no further requests");
  status = 200;
  await exporter.close();

  assert.equal(spanCount(collector.seen[1]?.body ?? ""), 2);
  assert.deepEqual(logged.map(({ event }) => event), ["telemetry.export_failed"]);
  await collector.stop();
});

Deno.test("SpanExporter counts the spans lost to a full queue or a dead collector, and reports them once", async () => {
  const { exporter, logged } = open("http://127.0.0.1:9/v1/traces");

  for (let n = 0; n < 3_000; n++) exporter.add(newSpan());
  await exporter.close();

  assert.deepEqual(logged, [
    { event: "telemetry.export_failed", count: undefined },
    { event: "telemetry.spans_dropped", count: 3_000 },
  ]);
});

Deno.test("SpanExporter waits for an unresponsive collector only until its deadline", async () => {
  const answers = Promise.withResolvers<Response>();
  const collector = startHttpServer(() => answers.promise);
  const { exporter, logged } = open(collector.url, 100);

  exporter.add(newSpan());
  await exporter.close();

  assert.deepEqual(logged.at(-1), { event: "telemetry.spans_dropped", count: 1 });
  answers.resolve(new Response("{}"));
  await collector.stop();
});

Deno.test("SpanExporter drops refused spans, follows no redirect and reads partial success", async () => {
  const answers = [
    new Response("no", { status: 400 }),
    new Response('{"partialSuccess":{"rejectedSpans":"1"}}'),
    new Response(null, { status: 307, headers: { location: "/elsewhere" } }),
  ];
  const collector = startHttpServer(() => answers.shift() ?? new Response("{}"));
  const { exporter, logged } = open(collector.url);

  exporter.add(newSpan());
  await exporter.flush();
  exporter.add(newSpan());
  exporter.add(newSpan());
  await exporter.flush();
  exporter.add(newSpan());
  await exporter.close();

  assert.deepEqual(logged.at(-1), { event: "telemetry.spans_dropped", count: 3 });
  assert.deepEqual(collector.seen.map(({ url }) => url.pathname), ["/", "/", "/"]);
  await collector.stop();
});
