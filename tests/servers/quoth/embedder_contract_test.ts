import assert from "node:assert/strict";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import {
  createEmbedder,
  type EmbeddingUsage,
} from "../../../shared/servers/quoth/embedders/create_embedder.ts";
import {
  close,
  type RawAnswer,
  type RawServer,
  respond,
  startRawServer,
} from "../../models/llm/raw_server.ts";
import {
  axis,
  configOf,
  embedderOf,
  type EmbeddingWire,
  KEY,
  NOW_MS,
  similarity,
  WIRES,
} from "./embedder_wire.ts";

const NEVER = new AbortController().signal;
const DOCUMENTS = [
  { title: "Guide", text: "Guide > Install\n\nRun it." },
  { title: "", text: "\n  kept as it is \t\n" },
];

for (const wire of WIRES) {
  const claim = (name: string, answer: RawAnswer, body: (test: WireTest) => Promise<void>) =>
    Deno.test(`an embedder over ${wire.api} ${name}`, async () => {
      const server = startRawServer(answer);
      try {
        await body(wireTest(wire, server));
      } finally {
        await server.stop();
      }
    });

  claim(
    "returns unit vectors in the order of the texts, which are sent unchanged",
    (connection) => respond(connection, { body: wire.vectors([axis(1), axis(2)]) }),
    async ({ embedder, server }) => {
      const vectors = await embedder.embedDocuments(DOCUMENTS, NEVER);

      assert.deepEqual(vectors.map((vector) => vector.indexOf(1)), [1, 2]);
      assert.deepEqual(vectors.map(({ length }) => length), [768, 768]);
      const { body, headers } = sentTo(server);
      assert.deepEqual(wire.texts(body), DOCUMENTS.map(({ text }) => text));
      assert.ok(headers.includes(KEY));
      assert.ok(!body.includes(KEY) && !headers.split("\r\n")[0]?.includes(KEY));
    },
  );

  claim(
    "embeds a query separately",
    (connection) => respond(connection, { body: wire.vectors([axis(5)]) }),
    async ({ embedder }) => {
      const vector = await embedder.embedQuery("how?", NEVER);

      assert.equal(vector.indexOf(1), 5);
    },
  );

  claim(
    "replaces half of a character, which providers refuse",
    (connection) => respond(connection, { body: wire.vectors([axis(5)]) }),
    async ({ embedder, server }) => {
      await embedder.embedQuery("cut \ud83d", NEVER);

      assert.ok(sentTo(server).body.includes("cut \uFFFD"));
    },
  );

  claim("sends nothing for an empty list of documents", () => {}, async ({ embedder, server }) => {
    assert.deepEqual(await embedder.embedDocuments([], NEVER), []);
    assert.equal(server.requests.length, 0);
  });

  claim(
    "waits as long as a per-minute limit requests",
    (connection) =>
      respond(connection, {
        status: 429,
        headers: { "retry-after": "17" },
        body: wire.error("slow"),
      }),
    async ({ failure }) => {
      const error = await failure();

      assert.equal(error.code, "EMBEDDER_RATE_LIMITED");
      assert.deepEqual(error.details, { embedder: "tested@768", retryAfterMs: 17_000 });
      assert.equal(error.retryAfterSeconds, 17);
    },
  );

  claim(
    "treats a very long wait as an exhausted quota",
    (connection) =>
      respond(connection, { status: 429, headers: { "retry-after": "7200" }, body: "busy" }),
    async ({ failure }) => {
      const error = await failure();

      assert.equal(error.code, "EMBEDDER_QUOTA_EXHAUSTED");
      assert.deepEqual(error.details, {
        embedder: "tested@768",
        untilIso: new Date(NOW_MS + 7_200_000).toISOString(),
      });
    },
  );

  for (
    const [status, code] of [
      [400, "EMBEDDER_TEXT_REFUSED"],
      [401, "EMBEDDER_REFUSED"],
      [404, "EMBEDDER_REFUSED"],
      [500, "EMBEDDER_UNAVAILABLE"],
      [503, "EMBEDDER_UNAVAILABLE"],
      [302, "EMBEDDER_REFUSED"],
    ] as const
  ) {
    claim(
      `reports HTTP ${status} as ${code}, without key and text`,
      (connection) =>
        respond(connection, {
          status,
          headers: { location: "https://elsewhere.example/" },
          body: wire.error(`Bad key ${KEY}`),
        }),
      async ({ failure }) => {
        const error = await failure();

        assert.equal(error.code, code);
        assert.ok(!JSON.stringify(error.toBody()).includes(KEY), error.message);
      },
    );
  }

  claim(
    "does not repeat an error that quotes the text",
    (connection) =>
      respond(connection, {
        status: 400,
        body: wire.error("Cannot take 'Guide > Install Run it.'"),
      }),
    async ({ failure }) => {
      const error = await failure();

      assert.match(error.message, /its message quotes the text/);
      assert.ok(!error.message.includes("Run it"));
    },
  );

  const unusable: readonly (readonly [string, string])[] = [
    ["vectors of another length", wire.vectors([axis(1, 3072), axis(2, 3072)])],
    ["one vector for two texts", wire.vectors([axis(1)])],
    ["a vector of zeros", wire.vectors([axis(1), axis(999)])],
    ["something else", '{"ok": true}'],
    ["no JSON", "<html>"],
    ["a huge answer", `[${" ".repeat(34_000_000)}]`],
  ];
  for (const [name, body] of unusable) {
    claim(
      `refuses ${name}`,
      (connection) => respond(connection, { body }),
      async ({ failure }) => assert.equal((await failure()).code, "EMBEDDER_OUTPUT_INVALID"),
    );
  }

  claim("does not wait forever", () => {}, async ({ server }) => {
    const embedder = embedderOf(
      { api: wire.api, base_url: baseUrlOf(wire, server) },
      { requestTimeoutMs: 50 },
    );

    await assert.rejects(embedder.embedQuery("how?", NEVER), {
      code: "EMBEDDER_UNAVAILABLE",
      message: /did not answer within 0.05 s/,
    });
  });

  claim("survives a broken connection", close, async ({ failure }) => {
    assert.equal((await failure()).code, "EMBEDDER_UNAVAILABLE");
  });

  claim("ends when its signal aborts", () => {}, async ({ embedder, server }) => {
    const stopping = new AbortController();
    const embedding = embedder.embedQuery("how?", stopping.signal);
    const reason = new Error("enough");
    queueMicrotask(() => stopping.abort(reason));

    await assert.rejects(embedding, reason);
    await assert.rejects(embedder.embedQuery("how?", stopping.signal), reason);
    assert.ok(server.requests.length <= 1);
  });
}

Deno.test("an embedder never reaches an internal address that is not allowed", async () => {
  const embedder = embedderOf({ base_url: "http://169.254.169.254/v1" });

  await assert.rejects(embedder.embedQuery("how?", NEVER), { code: "TOOL_ADDRESS_FORBIDDEN" });
});

Deno.test("Gemini requests contain the task, the title and the dimensions", async () => {
  const server = startRawServer((connection) =>
    respond(connection, { body: WIRES[0]?.vectors([axis(1), axis(2)]) ?? "" })
  );
  try {
    const embedder = embedderOf({
      api: "google",
      base_url: server.origin,
      model: "gemini-embedding-001",
    });
    await embedder.embedDocuments(DOCUMENTS, NEVER);

    const { headers, body } = sentTo(server);
    assert.match(headers, /^POST \/v1beta\/models\/gemini-embedding-001:batchEmbedContents /);
    assert.deepEqual(JSON.parse(body).requests, [
      {
        model: "models/gemini-embedding-001",
        outputDimensionality: 768,
        content: { parts: [{ text: DOCUMENTS[0]?.text }] },
        taskType: "RETRIEVAL_DOCUMENT",
        title: "Guide",
      },
      {
        model: "models/gemini-embedding-001",
        outputDimensionality: 768,
        content: { parts: [{ text: DOCUMENTS[1]?.text }] },
        taskType: "RETRIEVAL_DOCUMENT",
      },
    ]);
  } finally {
    await server.stop();
  }
});

Deno.test("Gemini's second generation gets the task in the text", async () => {
  const server = startRawServer((connection, number) =>
    respond(connection, {
      body: WIRES[0]?.vectors(number === 1 ? [axis(1), axis(2)] : [axis(1)]) ?? "",
    })
  );
  try {
    const embedder = embedderOf({
      api: "google",
      base_url: server.origin,
      model: "gemini-embedding-2",
    });
    await embedder.embedDocuments(DOCUMENTS, NEVER);
    await embedder.embedQuery("how?", NEVER);

    const texts = server.requests.flatMap(({ body }) => WIRES[0]?.texts(body) ?? []);
    assert.deepEqual(texts, [
      `title: Guide | text: ${DOCUMENTS[0]?.text}`,
      `title: none | text: ${DOCUMENTS[1]?.text}`,
      "task: search result | query: how?",
    ]);
    assert.ok(!server.requests.some(({ body }) => body.includes("taskType")));
  } finally {
    await server.stop();
  }
});

Deno.test("Gemini's two limits are distinguished", async () => {
  const violation = (quotaId: string) => ({
    error: {
      code: 429,
      message: "You exceeded your current quota",
      status: "RESOURCE_EXHAUSTED",
      details: [
        { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7.5s" },
      ],
    },
  });
  const answers = [
    violation("EmbedContentRequestsPerMinutePerProjectPerModel-FreeTier"),
    violation("EmbedContentRequestsPerDayPerProjectPerModel-FreeTier"),
  ];
  const server = startRawServer((connection, number) =>
    respond(connection, { status: 429, body: JSON.stringify(answers[number - 1]) })
  );
  try {
    const embedder = embedderOf({ api: "google", base_url: server.origin });

    await assert.rejects(embedder.embedQuery("how?", NEVER), {
      code: "EMBEDDER_RATE_LIMITED",
      details: { embedder: "tested@768", retryAfterMs: 7_500 },
    });
    // Midnight in California in summer.
    await assert.rejects(embedder.embedQuery("how?", NEVER), {
      code: "EMBEDDER_QUOTA_EXHAUSTED",
      details: { embedder: "tested@768", untilIso: "2026-07-02T07:00:00.000Z" },
    });
  } finally {
    await server.stop();
  }
});

Deno.test("an account without credit is not a temporary limit", async () => {
  const body = JSON.stringify({ error: { message: "No credit", code: "insufficient_quota" } });
  const server = startRawServer((connection) => respond(connection, { status: 429, body }));
  try {
    const embedder = embedderOf({ base_url: `${server.origin}/v1` });

    await assert.rejects(embedder.embedQuery("how?", NEVER), { code: "EMBEDDER_REFUSED" });
  } finally {
    await server.stop();
  }
});

Deno.test("the usage of a paid request is reported as counted, otherwise as estimated", async () => {
  for (const wire of WIRES) {
    const body = JSON.parse(wire.vectors([axis(1)]));
    const answers = [{ ...body, ...wire.usage(9) }, { ...body, ...wire.usage(-1) }, body, body];
    const server = startRawServer((connection, number) =>
      respond(connection, { body: JSON.stringify(answers[number - 1]) })
    );
    const used: EmbeddingUsage[] = [];
    const onUsage = (usage: EmbeddingUsage) => used.push(usage);
    const settings = { api: wire.api, base_url: server.origin };
    try {
      const paid = embedderOf({ ...settings, llm_provider: "acme" }, { onUsage });
      const free = embedderOf(settings, { onUsage });
      for (const embedder of [paid, paid, paid, free]) await embedder.embedQuery("12345678", NEVER);

      assert.deepEqual(
        used,
        [9, 2, 2].map((inputTokens) => ({ provider: "acme", model: "model-1", inputTokens })),
      );
    } finally {
      await server.stop();
    }
  }
});

Deno.test("OpenAI's format contains the dimensions only if the model has a choice", async () => {
  const server = startRawServer((connection) =>
    respond(connection, { body: WIRES[1]?.vectors([axis(1)]) ?? "" })
  );
  try {
    const settings = { base_url: `${server.origin}/v1/`, secret: null };
    await embedderOf({ ...settings, sends_dimensions: true }).embedQuery("a", NEVER);
    await embedderOf(settings).embedQuery("b", NEVER);

    assert.deepEqual(server.requests.map(({ body }) => JSON.parse(body)), [
      { model: "model-1", input: ["a"], encoding_format: "float", dimensions: 768 },
      { model: "model-1", input: ["b"], encoding_format: "float" },
    ]);
    assert.ok(server.requests.every(({ headers }) => !/authorization/i.test(headers)));
  } finally {
    await server.stop();
  }
});

Deno.test("a built-in model with 384 dimensions is combined with the word hash, whose weight is 0.3", async () => {
  const places: Readonly<Record<string, number>> = { "alpha beta": 0, "alpha gamma": 0, "x y": 1 };
  const embedder = createEmbedder(
    configOf({ api: "supabase", model: "gte-small", model_dimensions: 384, secret: null }),
    {
      transport: { fetch, nowMs: () => NOW_MS },
      openBuiltInSession: () => ({
        run: (text) => Promise.resolve(axis(places[text] ?? 2, 384)),
      }),
    },
  );
  const [one, two, three] = await embedder.embedDocuments(
    ["alpha beta", "alpha gamma", "x y"].map((text) => ({ title: "", text })),
    NEVER,
  );
  assert.ok(one !== undefined && two !== undefined && three !== undefined);

  assert.equal(one.length, 768);
  assert.ok(Math.abs(similarity(one, one) - 1) < 1e-9);
  assert.ok(Math.abs(similarity(one.slice(0, 384), two.slice(0, 384)) - 0.7) < 1e-9);
  assert.ok(Math.abs(similarity(one.slice(384), one.slice(384)) - 0.3) < 1e-9);
  assert.ok(similarity(one, two) > 0.75 && Math.abs(similarity(one, three)) < 0.1);
});

Deno.test("a built-in model is the edge runtime's own session", async () => {
  const asked: unknown[] = [];
  class Session {
    constructor(model: string) {
      asked.push(model);
    }
    run(text: string, options: unknown): Promise<number[]> {
      asked.push(text, options);
      return Promise.resolve(axis(0, 384));
    }
  }
  Object.assign(globalThis, { Supabase: { ai: { Session } } });
  try {
    const embedder = embedderOf({ api: "supabase", model: "gte-small", model_dimensions: 384 });

    assert.equal((await embedder.embedQuery("how?", NEVER)).length, 768);
    assert.deepEqual(asked, ["gte-small", "how?", { mean_pool: true, normalize: true }]);
  } finally {
    Reflect.deleteProperty(globalThis, "Supabase");
  }
});

Deno.test("a runtime without built-in models reports it", async () => {
  const embedder = embedderOf({ api: "supabase", model: "gte-small", model_dimensions: 384 });

  await assert.rejects(embedder.embedQuery("how?", NEVER), {
    code: "EMBEDDER_UNAVAILABLE",
    message: /this runtime has no built-in models/,
  });
});

interface WireTest {
  readonly embedder: ReturnType<typeof embedderOf>;
  readonly server: RawServer;
  /** The error of embedding the documents. */
  failure(): Promise<SwarmError>;
}

function wireTest(wire: EmbeddingWire, server: RawServer): WireTest {
  const embedder = embedderOf({ api: wire.api, base_url: baseUrlOf(wire, server) });
  return {
    embedder,
    server,
    failure: async () => {
      const error = await embedder.embedDocuments(DOCUMENTS, NEVER).catch((error) => error);
      assert.ok(error instanceof SwarmError, String(error));
      return error;
    },
  };
}

function baseUrlOf({ api }: EmbeddingWire, { origin }: RawServer): string {
  return api === "openai" ? `${origin}/v1` : origin;
}

function sentTo(server: RawServer) {
  const [request] = server.requests;
  assert.ok(request !== undefined, "nothing was sent");
  return request;
}
