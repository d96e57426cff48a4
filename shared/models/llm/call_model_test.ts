import assert from "node:assert/strict";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { createModelCaller, type ModelCall, type ModelCallPorts } from "./call_model.ts";
import type { ModelAdapter, ModelEndpoint, ModelRequest, ModelResponse } from "./model_port.ts";
import type { ModelKeyQuery } from "./resolve_model_key.ts";

const KEY = "sk-secret-0123456789";

const PROVIDER = {
  id: "p1",
  name: "acme",
  api: "openai",
  base_url: "http://127.0.0.1:1/v1",
  default_model: "acme-large",
} as const;

function call(changes: Partial<ModelCall> = {}): ModelCall {
  return {
    provider: PROVIDER,
    settings: { model: null, temperature: null, max_tokens: null },
    userId: "u1",
    prompt: { system: "Be brief.", messages: [{ role: "user", text: "Hello" }], tools: [] },
    signal: new AbortController().signal,
    ...changes,
  };
}

function response(changes: Partial<ModelResponse> = {}): ModelResponse {
  return {
    text: "Hi",
    tool_calls: [],
    finish_reason: "stop",
    usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2 },
    ...changes,
  };
}

/** Ports that record their calls, around a model that streams `deltas` and then answers. */
function fakePorts(answer: ModelResponse, deltas: readonly string[] = [], key = KEY) {
  const queries: ModelKeyQuery[] = [];
  const endpoints: ModelEndpoint[] = [];
  const requests: ModelRequest[] = [];
  const ports: ModelCallPorts = {
    resolveKey: (query) => {
      queries.push(query);
      return Promise.resolve({ secret: key, keySource: "organisation" });
    },
    createAdapter: (endpoint) => {
      endpoints.push(endpoint);
      return Promise.resolve({
        generate: (request, { onDelta }) => {
          requests.push(request);
          deltas.forEach((text) => onDelta?.(text));
          return Promise.resolve(answer);
        },
      });
    },
  };
  return { ports, queries, endpoints, requests };
}

Deno.test("callModel() resolves the key at call time and reports the usage", async () => {
  const { ports, queries, endpoints, requests } = fakePorts(response());

  const { answer, usage } = await createModelCaller(ports)(call());

  assert.equal(answer.text, "Hi");
  assert.deepEqual(queries.map(({ signal: _, ...query }) => query), [
    {
      providerId: "p1",
      userId: "u1",
      model: "acme-large",
      inputTokens: 4,
      outputTokens: null,
      taskId: null,
    },
  ]);
  assert.equal(endpoints[0]?.apiKey, KEY);
  assert.equal(endpoints[0]?.baseUrl, PROVIDER.base_url);
  assert.ok(!Object.hasOwn(requests[0] ?? {}, "temperature"));
  assert.deepEqual(usage, {
    provider_id: "p1",
    model: "acme-large",
    input_tokens: 10,
    cached_input_tokens: 4,
    output_tokens: 2,
    key_source: "organisation",
  });
});

Deno.test("callModel() sends no half of a surrogate pair, and returns an answer that can be stored and sent", async () => {
  const half = "\ud83d";
  const { ports, requests } = fakePorts(response({
    text: half,
    tool_calls: [{ call_id: "c1", name: "search", arguments: { q: `${half}\0` } }],
  }));
  const messages = [
    { role: "user", text: half },
    { role: "tool", call_id: "c0", name: "search", text: `cut \0${half}`, is_error: false },
  ] as const;

  const { answer } = await createModelCaller(ports)(
    call({ prompt: { system: half, messages, tools: [] } }),
  );

  const sent = requests.map((
    { system, messages },
  ) => [system, ...messages.map(({ text }) => text)]);
  assert.deepEqual(sent, [["\ufffd", "\ufffd", "cut \ufffd\ufffd"]]);
  assert.equal(answer.text, "\ufffd");
  assert.deepEqual(answer.tool_calls[0]?.arguments, { q: "\ufffd\ufffd" });
});

Deno.test("callModel() settles a reservation with the usage, releases it after a failure, and keeps it after an abort", async () => {
  const released: string[] = [];
  const portsOf = (generate: ModelAdapter["generate"]): ModelCallPorts => ({
    resolveKey: () =>
      Promise.resolve({
        secret: KEY,
        keySource: "organisation",
        reservationId: "r1",
        release: () => Promise.resolve(void released.push("r1")),
      }),
    createAdapter: () => Promise.resolve({ generate }),
  });
  const gone = new AbortController();

  const { usage } = await createModelCaller(portsOf(() => Promise.resolve(response())))(call());
  const aborted = createModelCaller(portsOf(() => {
    gone.abort();
    return Promise.reject(gone.signal.reason);
  }))(call({ signal: gone.signal }));
  await assert.rejects(aborted);
  assert.equal(usage.reservation_id, "r1");
  assert.deepEqual(released, []);

  const failed = createModelCaller(portsOf(() => Promise.reject(new Error("refused"))))(call());
  await assert.rejects(failed);
  assert.deepEqual(released, ["r1"]);

  const uncreated = createModelCaller({
    ...portsOf(() => Promise.resolve(response())),
    createAdapter: () => Promise.reject(new Error("no module")),
  })(call());
  await assert.rejects(uncreated);
  assert.deepEqual(released, ["r1", "r1"]);
});

Deno.test("callModel() lets a model write no more than the reservation under a cost cap covers", async () => {
  const { ports, requests } = fakePorts(response());
  const ask = createModelCaller({
    ...ports,
    resolveKey: async (query) => ({ ...await ports.resolveKey(query), maxOutputTokens: 70 }),
  });
  const settings = { model: null, temperature: null };

  await ask(call({ settings: { ...settings, max_tokens: 100 } }));
  await ask(call({ settings: { ...settings, max_tokens: null } }));

  assert.deepEqual(requests.map(({ maxOutputTokens }) => maxOutputTokens), [70, 70]);
});

Deno.test("callModel() drops the limit of a cost cap that the model cannot reach, but never the agent's own", async () => {
  const refusal = "max_tokens: 9000 > 8192, which is the maximum allowed for this model";
  const { ports, requests } = fakePorts(response());
  let covered = 9_000;
  const ask = createModelCaller({
    ...ports,
    resolveKey: async (query) => ({ ...await ports.resolveKey(query), maxOutputTokens: covered }),
    createAdapter: async (endpoint) => {
      const adapter = await ports.createAdapter(endpoint);
      return {
        generate: async (request, options) => {
          const answer = await adapter.generate(request, options);
          if ((request.maxOutputTokens ?? 0) <= 8_192) return answer;
          throw new SwarmError("MODEL_REQUEST_INVALID", refusal);
        },
      };
    },
  });
  const settings = { model: null, temperature: null };

  await ask(call({ settings: { ...settings, max_tokens: null } }));
  covered = 40;
  await ask(call({ settings: { ...settings, max_tokens: null } }));

  assert.deepEqual(requests.map(({ maxOutputTokens }) => maxOutputTokens), [9_000, undefined, 40]);
  covered = 9_000;
  await assert.rejects(ask(call({ settings: { ...settings, max_tokens: 9_000 } })), {
    code: "MODEL_REQUEST_INVALID",
  });
});

Deno.test("callModel() says at which limit an answer was cut: that of the request, else what was written", async () => {
  const usage = { input_tokens: 10, cached_input_tokens: 0, output_tokens: 70 };
  const cutAt = async (max_tokens: number | null, changes: Partial<ModelResponse> = {}) => {
    const { ports } = fakePorts(response({ finish_reason: "length", usage, ...changes }));
    const settings = { model: null, temperature: null, max_tokens };
    const { answer } = await createModelCaller(ports)(call({ settings }));
    return answer.cut_at_tokens;
  };

  assert.equal(await cutAt(100), 100);
  assert.equal(await cutAt(null), 70);
  assert.equal(await cutAt(null, { usage: { ...usage, output_tokens: 0 } }), undefined);
  assert.equal(await cutAt(100, { finish_reason: "stop" }), undefined);
});

Deno.test("callModel() drops a limit that is more than the agent's if the model cannot reach it", async () => {
  const { ports, requests } = fakePorts(response());
  const ask = createModelCaller({
    ...ports,
    createAdapter: async (endpoint) => {
      const adapter = await ports.createAdapter(endpoint);
      return {
        generate: async (request, options) => {
          const answer = await adapter.generate(request, options);
          if (request.maxOutputTokens === undefined) return answer;
          throw new SwarmError("MODEL_REQUEST_INVALID", "max_tokens is too large");
        },
      };
    },
  });
  const settings = { model: null, temperature: null, max_tokens: 9_000 };

  await ask(call({ settings: { ...settings, has_optional_limit: true } }));

  assert.deepEqual(requests.map(({ maxOutputTokens }) => maxOutputTokens), [9_000, undefined]);
});

Deno.test("callModel() prefers the agent's model and settings to the provider's default", async () => {
  const { ports, requests } = fakePorts(response());
  const settings = { model: "acme-small", temperature: 0, max_tokens: 100 };

  await createModelCaller(ports)(call({ settings }));

  assert.equal(requests[0]?.model, "acme-small");
  assert.equal(requests[0]?.temperature, 0);
  assert.equal(requests[0]?.maxOutputTokens, 100);
});

/** A caller whose model refuses all other requests with this message. */
function askRefusing(isAccepted: (request: ModelRequest) => boolean, message: string) {
  const { ports, requests } = fakePorts(response());
  const ask = createModelCaller({
    ...ports,
    createAdapter: async (endpoint) => {
      const adapter = await ports.createAdapter(endpoint);
      return {
        generate: async (request, options) => {
          const answer = await adapter.generate(request, options);
          if (isAccepted(request)) return answer;
          throw new SwarmError("MODEL_REQUEST_INVALID", message);
        },
      };
    },
  });
  return { ask, requests };
}

Deno.test("callModel() retries once with basic tools when a server refuses strict ones", async () => {
  const { ask, requests } = askRefusing(
    (request) => request.hasBasicTools === true && request.model === "acme-large",
    "Invalid schema for function 'search': 'strict' is not supported",
  );
  const tools = [{ name: "search", description: "", inputSchema: { type: "object" } }];
  const prompt = { ...call().prompt, tools };

  const { answer } = await ask(call({ prompt }));
  assert.equal(answer.text, "Hi");
  assert.deepEqual(requests.map(({ hasBasicTools }) => hasBasicTools), [undefined, true]);

  const settings = { model: "acme-small", temperature: null, max_tokens: null };
  await assert.rejects(ask(call({ prompt, settings })), { code: "MODEL_REQUEST_INVALID" });
  assert.equal(requests.length, 4);
});

Deno.test("callModel() retries without the temperature when a model refuses it", async () => {
  const { ask, requests } = askRefusing(
    (request) => request.temperature === undefined,
    "Unsupported value: 'temperature' does not support 0.7 with this model",
  );
  const settings = { model: null, temperature: 0.7, max_tokens: null };

  const { answer } = await ask(call({ settings }));

  assert.equal(answer.text, "Hi");
  assert.deepEqual(requests.map(({ temperature }) => temperature), [0.7, undefined]);
});

Deno.test("callModel() retries without a response format when a model refuses it", async () => {
  const { ask, requests } = askRefusing(
    (request) => request.output === undefined,
    "Unknown parameter: 'response_format'",
  );
  const output = { schema: { type: "object" }, isBesideTools: false };
  const prompt = { system: "", messages: [], tools: [], output };

  const { answer } = await ask(call({ prompt }));

  assert.equal(answer.text, "Hi");
  assert.deepEqual(requests.map((asked) => asked.output), [output, undefined]);
});

const SPARE = { ...PROVIDER, id: "p2", name: "spare", default_model: "spare-small" } as const;
const LAST = { ...PROVIDER, id: "p3", name: "last" } as const;

/** Ports of providers that fail with these errors; the others answer. */
function failingPorts(
  failures: Readonly<Record<string, SwarmError>>,
  deltas: readonly string[] = [],
) {
  const { ports, requests } = fakePorts(response(), deltas);
  const asked: string[] = [];
  const failing: ModelCallPorts = {
    ...ports,
    createAdapter: async (endpoint) => {
      const adapter = await ports.createAdapter(endpoint);
      return {
        generate: async (request, options) => {
          asked.push(`${endpoint.providerName}/${request.model}`);
          const answer = await adapter.generate(request, options);
          const failure = failures[endpoint.providerName];
          if (failure !== undefined) throw failure;
          return answer;
        },
      };
    },
  };
  return { ports: failing, asked, requests };
}

const FALLBACKS = [{ provider: SPARE, model: null }, { provider: LAST, model: "last-1" }];

for (
  const [why, failure] of [
    ["is down", new SwarmError("MODEL_UNAVAILABLE", "HTTP 503")],
    ["is overloaded", new SwarmError("MODEL_RATE_LIMITED", "HTTP 429")],
    ["is silent", new SwarmError("MODEL_TIMEOUT", "silent")],
    [
      "has used up its quota",
      new SwarmError("MODEL_AUTH_FAILED", "no credit", { details: { reason: "quota" } }),
    ],
  ] as const
) {
  Deno.test(`callModel() skips a provider that ${why}, and the usage names the one that answered`, async () => {
    const { ports, asked } = failingPorts({ acme: failure });

    const { usage } = await createModelCaller(ports)(call({ fallbacks: FALLBACKS }));

    assert.deepEqual(asked, ["acme/acme-large", "spare/spare-small"]);
    assert.deepEqual([usage.provider_id, usage.model], ["p2", "spare-small"]);
    assert.deepEqual(usage.passed_over, [
      { provider: "acme", model: "acme-large", code: failure.code },
    ]);
  });
}

Deno.test("callModel() sends an invalid request to no other provider", async () => {
  for (const code of ["MODEL_REQUEST_INVALID", "MODEL_AUTH_FAILED"] as const) {
    const { ports, asked } = failingPorts({ acme: new SwarmError(code, "no") });

    await assert.rejects(createModelCaller(ports)(call({ fallbacks: FALLBACKS })), { code });
    assert.equal(asked.length, 1);
  }
});

Deno.test("callModel() reports the first provider's failure when none answers", async () => {
  const { ports, asked } = failingPorts({
    acme: new SwarmError("MODEL_UNAVAILABLE", "the first", { retryAfterSeconds: 7 }),
    spare: new SwarmError("MODEL_REQUEST_INVALID", "no such model"),
    last: new SwarmError("MODEL_KEY_MISSING", "no key"),
  });

  const error = await createModelCaller(ports)(call({ fallbacks: FALLBACKS })).catch((e) => e);

  assert.equal(asked.length, 3);
  assert.deepEqual([error.code, error.retryAfterSeconds], ["MODEL_UNAVAILABLE", 7]);
});

Deno.test("callModel() skips a fallback whose context window is too small for the prompt", async () => {
  const { ports, asked } = failingPorts({
    acme: new SwarmError("MODEL_UNAVAILABLE", "HTTP 503"),
    spare: new SwarmError("MODEL_CONTEXT_EXCEEDED", "the prompt is too long"),
  });

  const { usage } = await createModelCaller(ports)(call({ fallbacks: FALLBACKS }));

  assert.equal(asked.length, 3);
  assert.deepEqual(usage.passed_over?.map(({ code }) => code), [
    "MODEL_UNAVAILABLE",
    "MODEL_CONTEXT_EXCEEDED",
  ]);
});

const STAND_IN = { ...PROVIDER, id: "p9", name: "scripts", default_model: "script" };

Deno.test("callModel() has a script answer for a provider without a key", async () => {
  const missing = new SwarmError("MODEL_KEY_MISSING", "no key");
  const { ports, asked } = failingPorts({ acme: missing });
  const findStandIn = () => Promise.resolve(STAND_IN);

  const { usage } = await createModelCaller({ ...ports, findStandIn })(call());

  assert.deepEqual(asked, ["acme/acme-large", "scripts/script"]);
  assert.deepEqual([usage.provider_id, usage.model], ["p9", "script"]);
  assert.deepEqual(usage.passed_over, [
    { provider: "acme", model: "acme-large", code: "MODEL_KEY_MISSING" },
  ]);
});

Deno.test("callModel() names the agent to scripts and to no other provider", async () => {
  const { ports } = failingPorts({ acme: new SwarmError("MODEL_KEY_MISSING", "no key") });
  const named: (string | undefined)[] = [];
  const spied: ModelCallPorts = {
    ...ports,
    createAdapter: (endpoint) => {
      named.push(endpoint.scriptedAgent);
      return ports.createAdapter(endpoint);
    },
  };
  const scripts = { ...STAND_IN, name: "demo" };
  const findStandIn = () => Promise.resolve(scripts);
  const asked = call({ agent: "writer" });

  await createModelCaller({ ...spied, findStandIn })(asked);
  // Where no scripts are served, a provider of this name is one like others.
  await createModelCaller(spied)({ ...asked, provider: scripts });

  assert.deepEqual(named, [undefined, "writer", undefined]);
});

Deno.test("callModel() asks no script after another failure", async () => {
  const { ports, asked } = failingPorts({ acme: new SwarmError("MODEL_AUTH_FAILED", "bad key") });
  const findStandIn = () => Promise.resolve(STAND_IN);

  await assert.rejects(createModelCaller({ ...ports, findStandIn })(call()), {
    code: "MODEL_AUTH_FAILED",
  });
  assert.deepEqual(asked, ["acme/acme-large"]);
});

Deno.test("callModel() reports the missing key unless a script failed", async () => {
  for (
    const [code, reported] of [
      ["MODEL_NOT_FOUND", "MODEL_KEY_MISSING"],
      ["MODEL_UNAVAILABLE", "MODEL_KEY_MISSING"],
      ["MODEL_SCRIPT_FAILED", "MODEL_SCRIPT_FAILED"],
    ] as const
  ) {
    const missing = new SwarmError("MODEL_KEY_MISSING", "no key");
    const { ports } = failingPorts({ acme: missing, scripts: new SwarmError(code, "no answer") });
    const findStandIn = () => Promise.resolve(STAND_IN);

    await assert.rejects(createModelCaller({ ...ports, findStandIn })(call()), { code: reported });
  }
});

Deno.test("callModel() uses the fallbacks of an agent whose own provider is inactive", async () => {
  const { ports, asked } = failingPorts({});

  await createModelCaller(ports)(call({ provider: null, fallbacks: FALLBACKS }));

  assert.deepEqual(asked, ["spare/spare-small"]);
});

Deno.test("callModel() reports the streamed text of a failed provider as void", async () => {
  const failure = new SwarmError("MODEL_UNAVAILABLE", "its answer was cut off");
  const { ports } = failingPorts({ acme: failure }, ["Hi"]);
  const heard: string[] = [];

  await createModelCaller(ports)(call({
    fallbacks: FALLBACKS,
    onDelta: (text) => heard.push(text),
    onFallback: () => heard.push("void"),
  }));

  assert.deepEqual(heard, ["Hi", "void", "Hi"]);
});

Deno.test("callModel() returns a provider's own data only to that provider", async () => {
  const signed = response({ provider_data: { api: "openai", signature: "s" } });
  const { ports: first } = fakePorts(signed);
  const { answer } = await createModelCaller(first)(call());
  const { finish_reason: _, ...turn } = answer;
  const prompt = { system: "", messages: [{ role: "assistant", ...turn } as const], tools: [] };
  const { ports, requests } = failingPorts({
    acme: new SwarmError("MODEL_UNAVAILABLE", "HTTP 500"),
  });

  await createModelCaller(ports)(call({ prompt, fallbacks: FALLBACKS }));

  const sent = requests.map(({ messages: [message] }) => JSON.stringify(message));
  assert.ok(sent[0]?.includes("signature"));
  assert.ok(!sent[1]?.includes("signature"));
});

Deno.test("callModel() reports an agent without an active provider", async () => {
  const { ports, queries } = fakePorts(response());

  const error = await createModelCaller(ports)(call({ provider: null })).catch((thrown) => thrown);

  assert.ok(error instanceof SwarmError);
  assert.equal(error.code, "PROVIDER_NOT_FOUND");
  assert.equal(queries.length, 0);
});

Deno.test("callModel() calls no model after an abort", async () => {
  const { ports, endpoints } = fakePorts(response());

  const error = await createModelCaller(ports)(call({ signal: AbortSignal.abort("enough") }))
    .catch((thrown) => thrown);

  assert.equal(error, "enough");
  assert.equal(endpoints.length, 0);
});

Deno.test("callModel() removes a key that a server echoes before it is stored", async () => {
  const { ports } = fakePorts(response({
    text: `Bearer ${KEY}`,
    tool_calls: [
      { call_id: "1", name: "send", arguments: { header: `x ${KEY}`, deep: [{ [KEY]: KEY }] } },
      { call_id: "2", name: "send", arguments: null, malformed: `{${KEY}` },
      { call_id: `call-${KEY}`, name: `send-${KEY}`, arguments: {} },
    ],
    provider_data: { parts: [{ text: KEY }] },
  }));

  const result = await createModelCaller(ports)(call());

  assert.ok(!JSON.stringify(result).includes(KEY));
  assert.equal(result.answer.text, "Bearer [redacted]");
  assert.equal(result.answer.tool_calls.length, 3);
});

Deno.test("streamed text never contains the key, however it is split", async () => {
  const text = `Before ${KEY} sk-sec and after sk-s`;
  for (const size of [1, 2, 5, 7, 100]) {
    const pieces = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const { ports } = fakePorts(response({ text }), pieces);
    const received: string[] = [];

    await createModelCaller(ports)(call({ onDelta: (delta) => void received.push(delta) }));

    assert.equal(received.join(""), "Before [redacted] sk-sec and after sk-s");
  }
});

Deno.test("streamed text never contains the key in another form, however it is split", async () => {
  const key = "sk/live+0123456789=abcdefgh";
  const forms = [
    encodeURIComponent(key),
    JSON.stringify(key).replaceAll("/", "\\/").replaceAll("+", "\\u002B").slice(1, -1),
    key.replaceAll("/", "&#x2f;").replaceAll("=", "&#61;"),
    btoa(`user:${key}:`),
  ];
  for (const form of forms) {
    const text = `Before ${form} and 50% after sk%2`;
    for (const size of [1, 2, 3, 5, 7, 100]) {
      const pieces = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
      const { ports } = fakePorts(response({ text }), pieces, key);
      const received: string[] = [];

      await createModelCaller(ports)(call({ onDelta: (delta) => void received.push(delta) }));

      const ending = received.join("").replace(/^Before .{0,8}\[redacted\].{0,2} /, "");
      assert.equal(ending, "and 50% after sk%2", `${form} in pieces of ${size}`);
    }
  }
});

Deno.test("streamed text that cannot start a key is passed on immediately", async () => {
  const { ports } = fakePorts(response(), ["One ", "two,", " three."]);
  const received: string[] = [];

  await createModelCaller(ports)(call({ onDelta: (delta) => void received.push(delta) }));

  assert.deepEqual(received, ["One ", "two,", " three."]);
});

Deno.test("a missing key is the resolver's error", async () => {
  const { ports } = fakePorts(response());
  const missing = new SwarmError("MODEL_KEY_MISSING", "No key", { hint: "Store one." });

  const error = await createModelCaller({ ...ports, resolveKey: () => Promise.reject(missing) })(
    call(),
  ).catch((thrown) => thrown);

  assert.equal(error, missing);
});
