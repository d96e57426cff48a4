import { signUp } from "../../scripts/demo/user_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge, percentile } from "./bench_result.ts";
import { ENVELOPE, PROTOCOL } from "./mcp_endpoint.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { type ReportingProcess, startReportingProcess } from "./reporting_process.ts";
import { mediansOf, ratioIn, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";

const ROUNDS = 5;
const CALLS = 6;
const CANCELLATIONS = 5;
const WARM_UP_CALLS = 5;
const ARGUMENTS = { text: "Write about the sea." };

/** One way to stream a text. */
interface Streaming {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Text in the stream that shows that a piece has arrived. */
  readonly marker: string;
}

interface ProviderReport {
  readonly url: string;
  /** Unix time; null: no client has disconnected. */
  readonly abandoned_at_ms: number | null;
}

/**
 * The catalog: streams `enhance_prompt` over MCP and over `mcp-execute`, and compares it with the
 * same request sent directly to the provider.
 *
 * @param db `native`, a URL, or `pglite`.
 */
export async function benchCatalog(db: string): Promise<BenchResult> {
  await using provider = startReportingProcess<ProviderReport>("streaming_provider.ts");
  await using measured = await startMeasuredStack(db);
  const ways = await openWays(measured, (await provider.ask()).url);
  for (const way of Object.values(ways)) {
    for (let call = 0; call < WARM_UP_CALLS; call++) await measureAnswer(way);
  }
  const answers = await runRounds(
    Object.fromEntries(
      Object.entries(ways).map(([name, way]) => [name, () => measureAnswers(way)]),
    ),
    { bench: "catalog", count: ROUNDS },
  );
  const { direct: _, ...ours } = ways;
  const ends = await runRounds(
    Object.fromEntries(
      Object.entries(ours).map(([name, way]) => [name, () => measureCancellations(way, provider)]),
    ),
    { bench: "catalog, cancelled", count: ROUNDS },
  );

  const spreads = {
    direct_first_token_ms: spreadIn(answers, "direct", "first_token_ms"),
    mcp_first_token_ms: spreadIn(answers, "mcp", "first_token_ms"),
    sse_first_token_ms: spreadIn(answers, "sse", "first_token_ms"),
    mcp_first_token_to_direct: ratioIn(answers, "first_token_ms", "mcp", "direct"),
    sse_first_token_to_direct: ratioIn(answers, "first_token_ms", "sse", "direct"),
    mcp_answer_to_direct: ratioIn(answers, "answer_ms", "mcp", "direct"),
    sse_answer_to_direct: ratioIn(answers, "answer_ms", "sse", "direct"),
    mcp_cancel_ms: spreadIn(ends, "mcp", "cancel_ms"),
    sse_cancel_ms: spreadIn(ends, "sse", "cancel_ms"),
  };
  return judge("catalog", mediansOf(spreads), {
    mcp_first_token_to_direct: { max: 1.25 },
    sse_first_token_to_direct: { max: 1.25 },
    mcp_answer_to_direct: { max: 1.2 },
    sse_answer_to_direct: { max: 1.2 },
  }, {
    spreads,
    versions: await serverVersion(measured.sql),
    notes: [
      "The provider takes 400 ms for its first token and 20 ms for each of 59 more. Direct: the same wire format without the platform. `mcp`: progress of a `tools/call`; `sse`: `delta` events of " +
      "`mcp-execute`. Both go through the embedded stack, for a signed-in user: token, scope, limit and arguments are checked, the organization's key is resolved, and the call is recorded.",
      "`answer`: until the stream has ended and its usage is recorded. `cancel_ms`: from the client's disconnect in the middle of the text until the provider's connection is closed.",
    ],
  });
}

/** Opens all ways for the same text. The provider is that of the tool's row. */
async function openWays(
  { sql, stack }: MeasuredStack,
  providerUrl: string,
): Promise<Record<"direct" | "mcp" | "sse", Streaming>> {
  await sql`
    update public.llm_providers set base_url = ${providerUrl}, default_model = 'streaming'
    where name = 'openrouter'`;
  await sql`select vault.create_secret('sk-or-timed', 'OPENROUTER_API_KEY')`;
  const { accessToken } = await signUp(stack, "ada");
  const credentials = {
    apikey: stack.publishableKey,
    authorization: `Bearer ${accessToken}`,
    "content-type": "application/json",
  };
  const tool = { name: "enhance_prompt", arguments: ARGUMENTS };
  return {
    direct: {
      url: `${providerUrl}/chat/completions`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "streaming", stream: true, messages: [] }),
      marker: '"content":"word ',
    },
    mcp: {
      url: `${stack.apiUrl}/functions/v1/mcp/catalog`,
      headers: {
        ...credentials,
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
        "mcp-method": "tools/call",
        "mcp-name": tool.name,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { ...tool, _meta: { ...ENVELOPE, progressToken: "text" } },
      }),
      marker: '"message":"word ',
    },
    sse: {
      url: `${stack.apiUrl}/functions/v1/mcp-execute`,
      headers: { ...credentials, accept: "text/event-stream" },
      body: JSON.stringify({ server: "catalog", tool_name: tool.name, parameters: ARGUMENTS }),
      marker: "event: delta",
    },
  };
}

async function measureAnswers(way: Streaming) {
  const answers: Answer[] = [];
  for (let call = 0; call < CALLS; call++) answers.push(await measureAnswer(way));
  return {
    first_token_ms: percentile(answers.map(({ firstTokenMs }) => firstTokenMs), 0.5),
    answer_ms: percentile(answers.map(({ answerMs }) => answerMs), 0.5),
  };
}

interface Answer {
  readonly firstTokenMs: number;
  readonly answerMs: number;
}

async function measureAnswer(way: Streaming): Promise<Answer> {
  const beganAtMs = performance.now();
  const reader = await open(way, new AbortController().signal);
  await readUntil(reader, way.marker);
  const firstTokenMs = performance.now() - beganAtMs;
  while (!(await reader.read()).done);
  return { firstTokenMs, answerMs: performance.now() - beganAtMs };
}

async function measureCancellations(way: Streaming, provider: ReportingProcess<ProviderReport>) {
  const tookMs: number[] = [];
  for (let call = 0; call < CANCELLATIONS; call++) {
    const { abandoned_at_ms: before } = await provider.ask();
    const gone = new AbortController();
    const reader = await open(way, gone.signal);
    await readUntil(reader, way.marker);
    const goneAtMs = Date.now();
    gone.abort();
    await reader.cancel().catch(() => {});
    const abandonedAtMs = await waitFor(async () => {
      const { abandoned_at_ms } = await provider.ask();
      return abandoned_at_ms === before ? null : abandoned_at_ms;
    }, { what: "the provider to lose its client" });
    tookMs.push(abandonedAtMs - goneAtMs);
  }
  return { cancel_ms: percentile(tookMs, 0.5) };
}

type TextReader = ReadableStreamDefaultReader<string>;

async function open({ url, headers, body }: Streaming, signal: AbortSignal): Promise<TextReader> {
  const response = await fetch(url, { method: "POST", headers, body, signal });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  return response.body.pipeThrough(new TextDecoderStream()).getReader();
}

async function readUntil(reader: TextReader, marker: string): Promise<void> {
  let text = "";
  while (!text.includes(marker)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The stream ended without a text: ${text}`);
    text += value;
  }
}
