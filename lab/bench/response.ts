import { createSwarm } from "../../client/mod.ts";
import { type DemoUser, signUp } from "../../scripts/demo/user_client.ts";
import { type BenchResult, judge, percentile, rounded } from "./bench_result.ts";
import { addDeskTool, startDesk } from "./desk_jobs.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { serverVersion } from "./server_version.ts";

const AGENT = "answering";
const JOBS = 60;
const WARM_UP_JOBS = 5;
const PIECES = 5;
const PIECE_EACH_MS = 10;
/** The worker polls more slowly after a while without tasks; a person's next request comes later. */
const PAUSE_MS = 250;

const NOTES = [
  `${JOBS} jobs of a signed-in user, one after the other, through the embedded stack's HTTP gateway, ` +
  "to an agent with a key in Vault and a tool. `to_model_ms`: from the client's request of the " +
  "job to the arrival of the request at the model. `to_completed_ms`: from the last of " +
  `${PIECES} streamed pieces to the client's message \`task.completed\` over Realtime.`,
];

/** What a user waits for: until the model is asked, and from its answer to the end of the job. */
export async function benchResponse(db: string): Promise<BenchResult> {
  await using model = startTimedModel();
  await using desk = startDesk();
  await using platform = await startMeasuredStack(db, { SUPASWARM_ALLOW_LOOPBACK: "true" });
  const user = await signUp(platform.stack, "ada");
  await addAgent(platform, user, model.baseUrl, desk.url);
  const waits: { toModelMs: number; toCompletedMs: number }[] = [];
  for (let n = 0; n < WARM_UP_JOBS + JOBS; n++) {
    const wait = await runJob(user, model);
    if (n >= WARM_UP_JOBS) waits.push(wait);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const toModel = waits.map(({ toModelMs }) => toModelMs);
  const toCompleted = waits.map(({ toCompletedMs }) => toCompletedMs);
  return judge("response", {
    to_model_p50_ms: rounded(percentile(toModel, 0.5)),
    to_model_p95_ms: rounded(percentile(toModel, 0.95)),
    to_completed_p50_ms: rounded(percentile(toCompleted, 0.5)),
    to_completed_p95_ms: rounded(percentile(toCompleted, 0.95)),
  }, {
    to_model_p50_ms: { max: 25 },
    to_completed_p50_ms: { max: 30 },
  }, { versions: await serverVersion(platform.sql), notes: NOTES });
}

async function addAgent(
  { sql }: MeasuredStack,
  { client }: DemoUser,
  baseUrl: string,
  deskUrl: string,
): Promise<void> {
  await sql`select vault.create_secret('key-of-the-bench', 'TIMED_API_KEY')`;
  await sql`
    with provider as (
      insert into public.llm_providers (name, display_name, base_url, default_model, is_free)
      values ('timed', 'Timed', ${baseUrl}, 'timed', true)
      returning id
    )
    insert into public.agents (name, slug, system_prompt, provider_id)
    select ${AGENT}, ${AGENT}, 'You are timed.', id from provider`;
  await addDeskTool(sql, AGENT, deskUrl);
  const { data } = await client.auth.getUser();
  await sql`select public.grant_scopes(${data.user?.id ?? ""}, '{swarm:run,mcp:orders}')`;
}

async function runJob({ client }: DemoUser, model: TimedModel) {
  const call = model.expectCall();
  const beganAtMs = performance.now();
  const job = await createSwarm(client).run(AGENT, "now");
  const completed = Promise.withResolvers<number>();
  const leave = job.listen({
    onMessage: ({ event }) => event === "task.completed" && completed.resolve(performance.now()),
    onJoined: (isJoined) => isJoined && call.mayAnswer(),
  });
  const completedAtMs = await completed.promise;
  leave();
  return {
    toModelMs: await call.askedAtMs - beganAtMs,
    toCompletedMs: completedAtMs - await call.answeredAtMs,
  };
}

/** A model that notes when it is asked and when it has answered. */
interface TimedModel extends AsyncDisposable {
  readonly baseUrl: string;
  expectCall(): TimedCall;
}

interface TimedCall {
  readonly askedAtMs: Promise<number>;
  readonly answeredAtMs: Promise<number>;
  /** The client has joined the job's channel, so it hears of the end. */
  mayAnswer(): void;
}

function startTimedModel(): TimedModel {
  const open = () => ({
    asked: Promise.withResolvers<number>(),
    mayAnswer: Promise.withResolvers<void>(),
    answered: Promise.withResolvers<number>(),
  });
  let call = open();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { asked, mayAnswer, answered } = call;
      asked.resolve(performance.now());
      const { stream } = await request.json();
      await mayAnswer.promise;
      if (stream) return streamed(() => answered.resolve(performance.now()));
      answered.resolve(performance.now());
      const message = { role: "assistant", content: "An answer." };
      return Response.json({
        ...ENVELOPE,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: USAGE,
      });
    },
  );
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    expectCall() {
      call = open();
      return {
        askedAtMs: call.asked.promise,
        answeredAtMs: call.answered.promise,
        mayAnswer: call.mayAnswer.resolve,
      };
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const ENVELOPE = { id: "timed", created: 0, model: "timed" };
const USAGE = { prompt_tokens: 10, completion_tokens: PIECES, total_tokens: 10 + PIECES };

function streamed(onLast: () => void): Response {
  const chunk = (choice: object, rest: object = {}) =>
    `data: ${
      JSON.stringify({ ...ENVELOPE, object: "chat.completion.chunk", choices: [choice], ...rest })
    }\n\n`;
  async function* pieces() {
    for (let n = 0; n < PIECES; n++) {
      yield chunk({ index: 0, delta: { content: "one piece " }, finish_reason: null });
      await new Promise((resolve) => setTimeout(resolve, PIECE_EACH_MS));
    }
    onLast();
    yield chunk({ index: 0, delta: {}, finish_reason: "stop" }, { usage: USAGE });
    yield "data: [DONE]\n\n";
  }
  const body = ReadableStream.from(pieces()).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
