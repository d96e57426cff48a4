import assert from "node:assert/strict";
import { retriedCodes, runToEnd } from "../e2e/bad_input/ended_job.ts";
import { addProvider } from "../e2e/operator.ts";
import { bootPlatform } from "../e2e/platform.ts";
import {
  beginStream,
  close,
  endStream,
  type RawAnswer,
  respond,
  startRawServer,
} from "../models/llm/raw_server.ts";
import { WIRE_FORMATS } from "../models/llm/wire_format.ts";

/** The time after which a stalled stream fails, and within which every other answer arrives. */
const MODEL_TIMEOUT_SECONDS = 5;

/** An invalid first answer, its code in the trace, and the attempts that it uses. */
interface Fault {
  readonly name: string;
  readonly slug: string;
  readonly answer: RawAnswer;
  readonly code: string;
  readonly attempts: number;
}

const FAULTS: readonly Fault[] = [
  {
    name: "a 429 without a time",
    slug: "busy",
    answer: (connection) =>
      respond(connection, { status: 429, body: '{"error": {"message": "slow down"}}' }),
    code: "MODEL_RATE_LIMITED",
    attempts: 0,
  },
  {
    name: "a 429 with a wait of one second",
    slug: "busy-for-a-second",
    answer: (connection) =>
      respond(connection, { status: 429, headers: { "retry-after": "1" }, body: "{}" }),
    code: "MODEL_RATE_LIMITED",
    attempts: 0,
  },
  {
    name: "a 500 with a web page",
    slug: "broken",
    answer: (connection) => respond(connection, { status: 500, body: "<html>Oops</html>" }),
    code: "MODEL_UNAVAILABLE",
    attempts: 1,
  },
  {
    name: "a connection that is reset before the answer",
    slug: "reset",
    answer: close,
    code: "MODEL_UNAVAILABLE",
    attempts: 1,
  },
  {
    name: "a connection that is reset during the answer",
    slug: "cut",
    answer: async (connection) => {
      await beginStream(connection, openings());
      close(connection);
    },
    code: "MODEL_UNAVAILABLE",
    attempts: 1,
  },
  {
    name: "a stream that stalls",
    slug: "stalled",
    answer: (connection) => beginStream(connection, openings()),
    code: "MODEL_TIMEOUT",
    attempts: 1,
  },
  {
    name: "a server that accepts the request and never responds",
    slug: "mute",
    answer: () => {},
    code: "MODEL_TIMEOUT",
    attempts: 1,
  },
  {
    name: "a stream of garbage",
    slug: "garbage",
    answer: async (connection) => {
      await beginStream(connection, ['data: {"choices": [{"delta": {"con\n\n']);
      await endStream(connection);
    },
    code: "MODEL_OUTPUT_INVALID",
    attempts: 1,
  },
  {
    name: "5 MB without an answer",
    slug: "flood",
    answer: (connection) => respond(connection, { body: "x".repeat(5_000_000) }),
    code: "MODEL_OUTPUT_INVALID",
    attempts: 1,
  },
];

Deno.test("a job survives any single fault of a model's server", async (t) => {
  await using platform = await bootPlatform({
    db: "native",
    env: { SUPASWARM_MODEL_TIMEOUT_SECONDS: String(MODEL_TIMEOUT_SECONDS) },
  });

  for (const { name, slug, answer, code, attempts } of FAULTS) {
    await t.step(name, async () => {
      const server = startRawServer(async (connection, requestNumber) => {
        if (requestNumber === 1) return await answer(connection, requestNumber);
        await beginStream(connection, completion());
        await endStream(connection);
      });
      try {
        await addProvider(platform.sql, { name: slug, baseUrl: `${server.origin}/v1` });

        const end = await runToEnd(platform, { slug, provider: slug, isWatched: true });

        assert.deepEqual([end.task.status, end.task.output], ["completed", "at last"]);
        assert.deepEqual(retriedCodes(end), [code]);
        assert.equal(end.task.attempts, attempts);
        assert.equal(server.requests.length, 2);
      } finally {
        await server.stop();
      }
    });
  }
});

function completion(): readonly string[] {
  const argumentsText = '{"output": "at last"}';
  return chatCompletions().events({ calls: [{ name: "complete_task", argumentsText }] });
}

/** The events of an answer without its end. */
function openings(): readonly string[] {
  return chatCompletions().events({ text: "I am thinking about it" }).slice(0, 2);
}

function chatCompletions() {
  const format = WIRE_FORMATS.find(({ api }) => api === "openai");
  assert.ok(format);
  return format;
}
