import assert from "node:assert/strict";
import type { AssertionPorts, JsonRow } from "./check_assertion.ts";
import { checkAssertion } from "./check_assertion.ts";
import type { Assertion } from "./evals_file_schema.ts";
import type { JobRecord } from "./job_record.ts";

const RECORD: JobRecord = {
  taskId: "01a21c31-4960-7a44-b9ae-b059d40d01fd",
  userId: "5c9e3b52-0d0c-4c53-a3c7-bd2a2a6f7f11",
  input: { topic: "webhooks" },
  output: { announcement: "Webhooks are here.", words: 3 },
  error: null,
  calls: [
    { tool: "files/list_directory", arguments: { path: "." } },
    { tool: "files/read_file", arguments: { path: "a.md", options: { head: 5, tail: 1 } } },
    { tool: "create_subtask", arguments: { agent: "reader" } },
  ],
  questions: ["Publish this announcement?"],
  latencyMs: 1_500,
  usage: { inputTokens: 900, outputTokens: 80, costMicroUsd: 2_500, stepCount: 7, taskCount: 2 },
};

const PORTS: AssertionPorts = {
  readSql: () => Promise.resolve([]),
  similarity: () => Promise.resolve(0.8),
  judge: () => Promise.resolve({ pass: true, score: 0.6, reason: "It is short." }),
};

async function check(
  assertion: Assertion,
  { record = {}, ports = {}, reviewIndex = 0 }: {
    readonly record?: Partial<JobRecord>;
    readonly ports?: Partial<AssertionPorts>;
    readonly reviewIndex?: number;
  } = {},
) {
  return await checkAssertion(
    assertion,
    { ...RECORD, ...record },
    { reviewIndex, judge: "judge" },
    { ...PORTS, ...ports },
  );
}

type Case = readonly [claim: string, assertion: Assertion, record?: Partial<JobRecord>];

const PASSING: readonly Case[] = [
  ["contains finds a text in the JSON", { type: "contains", value: "Webhooks are" }],
  ["icontains ignores case", { type: "icontains", value: "webhooks ARE" }],
  ["not-contains holds for a missing text", { type: "not-contains", value: "webhooks" }],
  ["not-icontains holds for a missing text", { type: "not-icontains", value: "queues" }],
  ["equals ignores the order of members", {
    type: "equals",
    value: { words: 3, announcement: "Webhooks are here." },
  }],
  ["equals compares texts", { type: "equals", value: "Done" }, { output: "Done" }],
  ["not-equals holds for another value", { type: "not-equals", value: "Done" }],
  ["regex matches", { type: "regex", value: "Web\\w+ are" }],
  ["not-regex holds without a match", { type: "not-regex", value: "^Web" }],
  ["is-json accepts a value that matches", {
    type: "is-json",
    value: { type: "object", required: ["announcement"] },
  }],
  ["is-json parses a text", { type: "is-json" }, { output: "[1, 2]" }],
  ["javascript evaluates an expression", {
    type: "javascript",
    value: "output.words === 3 && context.vars.topic === 'webhooks'",
  }],
  ["javascript runs statements", {
    type: "javascript",
    value: "const words = output.words;\nreturn words > 2;",
  }],
  ["javascript waits for a promise", { type: "javascript", value: "Promise.resolve(true)" }],
  ["javascript accepts a score", { type: "javascript", value: "0.5", threshold: 0.5 }],
  ["cost holds at the threshold", { type: "cost", threshold: 0.0025 }],
  ["latency holds at the threshold", { type: "latency", threshold: 1_500 }],
  ["similar has a default threshold", { type: "similar", value: "Hooks" }],
  ["llm-rubric follows the judge", { type: "llm-rubric", value: "It is short." }],
  ["budget holds at each cap", {
    type: "budget",
    value: {
      max_input_tokens: 900,
      max_output_tokens: 80,
      max_cost_micro_usd: 2_500,
      max_steps: 7,
      max_tasks: 2,
      max_wall_seconds: 2,
    },
  }],
  ["review finds the question", {
    type: "review",
    value: { approved: true, question: "Publish" },
  }],
  ["trajectory accepts other calls between", {
    type: "trajectory",
    value: ["files/list_directory", "create_subtask"],
  }],
  ["trajectory names a server for any of its tools", {
    type: "trajectory",
    mode: "exact",
    value: ["files", { tool: "files", arguments: { options: { head: 5 } } }, "create_subtask"],
  }],
  ["trajectory compares the arguments that are named", {
    type: "trajectory",
    value: [{ tool: "files/read_file", arguments: { options: { head: 5 } } }],
  }],
  ["trajectory contains calls in any order", {
    type: "trajectory",
    mode: "contains",
    value: ["create_subtask", "files/list_directory"],
  }],
  ["trajectory is exact", {
    type: "trajectory",
    mode: "exact",
    value: ["files/list_directory", "files/read_file", "create_subtask"],
  }],
];

for (const [claim, assertion, record = {}] of PASSING) {
  Deno.test(`checkAssertion() passes: ${claim}`, async () => {
    const { passed, reason } = await check(assertion, { record });

    assert.deepEqual({ passed, reason }, { passed: true, reason: null });
  });
}

const FAILING: readonly (readonly [
  claim: string,
  assertion: Assertion,
  reason: RegExp,
  record?: Partial<JobRecord>,
])[] = [
  ["contains", { type: "contains", value: "queues" }, /expected contains "queues"/],
  ["contains minds case", { type: "contains", value: "webhooks" }, /Webhooks are here/],
  ["not-contains", { type: "not-contains", value: "Webhooks" }, /expected not-contains/],
  ["icontains", { type: "icontains", value: "QUEUES" }, /expected icontains/],
  ["equals", { type: "equals", value: { words: 3 } }, /expected equals/],
  ["not-equals", { type: "not-equals", value: "Done" }, /expected not-equals/, { output: "Done" }],
  ["regex", { type: "regex", value: "^Web" }, /expected regex/],
  ["is-json names the problem", {
    type: "is-json",
    value: { type: "object", required: ["title"] },
  }, /does not match the schema.*title/],
  ["is-json of a text", { type: "is-json" }, /is not JSON/, { output: "Done" }],
  ["javascript", { type: "javascript", value: "output.words > 3" }, /output\.words > 3 is false/],
  ["javascript that throws", { type: "javascript", value: "output.a.b" }, /TypeError/],
  ["javascript with a syntax error", { type: "javascript", value: "output ===" }, /SyntaxError/],
  ["javascript without a verdict", { type: "javascript", value: "'yes'" }, /"yes", not true/],
  ["javascript with a low score", {
    type: "javascript",
    value: "0.4",
    threshold: 0.5,
  }, /score 0\.4 is not 0\.5/],
  ["javascript with its own reason", {
    type: "javascript",
    value: "({ pass: false, score: 0.2, reason: 'Too short.' })",
  }, /^Too short\.$/],
  ["javascript has no access to files", {
    type: "javascript",
    value: "Deno.readTextFileSync('/etc/hostname').length > 0",
  }, /NotCapable|PermissionDenied/],
  ["javascript has no access to the network", {
    type: "javascript",
    value: "fetch('http://127.0.0.1:4321/').then(() => true)",
  }, /NotCapable|PermissionDenied/],
  ["javascript has no access to variables", {
    type: "javascript",
    value: "Deno.env.get('PATH') !== ''",
  }, /NotCapable|PermissionDenied/],
  ["cost", { type: "cost", threshold: 0.002 }, /cost \$0\.0025, more than \$0\.002/],
  ["cost without a price", { type: "cost", threshold: 1 }, /no row in model_prices/, {
    usage: { ...RECORD.usage, costMicroUsd: null },
  }],
  ["latency", { type: "latency", threshold: 1_499 }, /1500 ms, more than 1499/],
  ["similar", { type: "similar", value: "Hooks", threshold: 0.9 }, /0\.800, less than 0\.9/],
  ["llm-rubric with a low score", {
    type: "llm-rubric",
    value: "It is short.",
    threshold: 0.7,
  }, /It is short\. \(score 0\.6\)/],
  ["budget names each cap", {
    type: "budget",
    value: { max_steps: 6, max_tasks: 1, max_input_tokens: 1_000 },
  }, /^max_steps is 6, the job used 7; max_tasks is 1, the job used 2$/],
  [
    "budget without a price",
    {
      type: "budget",
      value: { max_cost_micro_usd: 9 },
    },
    /unknown cost/,
    { usage: { ...RECORD.usage, costMicroUsd: null } },
  ],
  ["review with another question", {
    type: "review",
    value: { approved: true, question: "Delete" },
  }, /asked "Publish/],
  ["review without a question", { type: "review", value: { approved: true } }, /no person/, {
    questions: [],
  }],
  ["trajectory in another order", {
    type: "trajectory",
    value: ["create_subtask", "files/list_directory"],
  }, /expected the call files\/list_directory \(in-order\); calls: files\/list_directory, /],
  ["trajectory with the beginning of a name", {
    type: "trajectory",
    value: ["files/read"],
  }, /expected the call files\/read \(in-order\)/],
  ["trajectory with other arguments", {
    type: "trajectory",
    value: [{ tool: "files/read_file", arguments: { path: "b.md" } }],
  }, /files\/read_file \{"path":"b\.md"\}/],
  ["trajectory with a call that is made once", {
    type: "trajectory",
    mode: "contains",
    value: ["create_subtask", "create_subtask"],
  }, /expected the call create_subtask/],
  ["trajectory with a call too many", {
    type: "trajectory",
    mode: "exact",
    value: ["files/list_directory", "files/read_file"],
  }, /expected 2 calls/],
  ["trajectory with a missing call", {
    type: "trajectory",
    mode: "exact",
    value: ["files/list_directory", "create_subtask"],
  }, /expected the call create_subtask/],
  ["javascript without a number", { type: "javascript", value: "0 / 0" }, /not true, false, a num/],
];

for (const [claim, assertion, reason, record = {}] of FAILING) {
  Deno.test(`checkAssertion() fails and says why: ${claim}`, async () => {
    const result = await check(assertion, { record });

    assert.equal(result.passed, false);
    assert.match(result.reason ?? "", reason);
  });
}

Deno.test("a sql assertion passes the job's ids as parameters, and compares the only value", async () => {
  const asked: unknown[] = [];
  const readSql = (statement: string, params: readonly string[]) => {
    asked.push([statement, params]);
    return Promise.resolve<JsonRow[]>([{ count: 2 }]);
  };
  const value = {
    query:
      "select count(*) from notes where task = {{task_id}} and owner = {{ user_id }} or {{task_id}} is null",
    equals: 2,
  };

  const { passed } = await check({ type: "sql", value }, { ports: { readSql } });

  assert.equal(passed, true);
  assert.deepEqual(asked, [[
    "select count(*) from notes where task = $1 and owner = $2 or $1 is null",
    [RECORD.taskId, RECORD.userId],
  ]]);
});

for (
  const [rows, equals, passes] of [
    [[{ a: 1, b: "x" }], [{ a: 1, b: "x" }], true],
    [[], [], true],
    [[{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 2 }], true],
    [[{ a: 1 }], 2, false],
  ] as const
) {
  Deno.test(`a sql assertion compares ${JSON.stringify(rows)} with ${JSON.stringify(equals)}`, async () => {
    const { passed } = await check(
      { type: "sql", value: { query: "select", equals } },
      { ports: { readSql: () => Promise.resolve([...rows]) } },
    );

    assert.equal(passed, passes);
  });
}

Deno.test("a sql assertion without an expected result needs true, and names what the database refuses", async () => {
  const assertion: Assertion = { type: "sql", value: "select 1" };

  const one = await check(assertion, { ports: { readSql: () => Promise.resolve([{ a: 1 }]) } });
  const refused = await check(assertion, {
    ports: { readSql: () => Promise.reject(new Error("cannot execute DELETE")) },
  });

  assert.match(one.reason ?? "", /the result is 1, not true/);
  assert.match(refused.reason ?? "", /the statement failed: cannot execute DELETE/);
});

Deno.test("a score counts with its weight and stays between 0 and 1", async () => {
  const high = await check({ type: "javascript", value: "7", weight: 3 });

  const unknown = await check({ type: "javascript", value: "({ pass: true, score: NaN })" });

  assert.deepEqual([high.score, high.weight], [1, 3]);
  assert.deepEqual([unknown.passed, unknown.score], [true, 1]);
});

Deno.test("each review assertion looks at the question that it answered", async () => {
  const record = { questions: ["First?", "Second?"] };
  const assertion: Assertion = { type: "review", value: { approved: true, question: "Second" } };

  assert.equal((await check(assertion, { record, reviewIndex: 0 })).passed, false);
  assert.equal((await check(assertion, { record, reviewIndex: 1 })).passed, true);
});
