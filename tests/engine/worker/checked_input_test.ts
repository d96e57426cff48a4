import assert from "node:assert/strict";
import { createTask, type TaskOrigin } from "../../../shared/engine/tasks/create_task.ts";
import type { ModelMessage } from "../../../shared/models/llm/model_port.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { ask, Swarm, turnNumber } from "./swarm_fixture.ts";

const SERVICE: TaskOrigin = {
  actor: "service",
  userId: null,
  clientId: null,
  taskId: null,
  traceparent: null,
  tracestate: null,
};
const FOLDED = {
  $defs: { day: { type: "string", format: "date" } },
  properties: { day: { $ref: "#/$defs/day" } },
};

/** A schema, an input that it refuses, the path of what is wrong, and an input that it accepts. */
const CASES: readonly (readonly [string, JsonObject, JsonValue, string, JsonValue])[] = [
  ["pattern", at({ pattern: "^[A-Z]{2}$" }), { x: "abc" }, "input.x", { x: "DE" }],
  ["format", at({ format: "email" }), { x: "none" }, "input.x", { x: "ada@example.com" }],
  ["multipleOf", at({ multipleOf: 0.01 }), { x: 1.005 }, "input.x", { x: 1.1 }],
  ["uniqueItems", at({ uniqueItems: true }), { x: [1, 1] }, "input.x", { x: [1, "1"] }],
  ["oneOf", at({ oneOf: [{ minimum: 1 }, { maximum: 3 }] }), { x: 2 }, "input.x", { x: 4 }],
  ["not", at({ not: { type: "null" } }), { x: null }, "input.x", { x: 0 }],
  [
    "patternProperties",
    { patternProperties: { "^n_": { type: "number" } } },
    { n_a: "1" },
    "input.n_a",
    {
      n_a: 1,
      b: "1",
    },
  ],
  ["minProperties", { minProperties: 2 }, { a: 1 }, "input", { a: 1, b: 2 }],
  ["propertyNames", { propertyNames: { maxLength: 2 } }, { abc: 1 }, "input.abc", { ab: 1 }],
  ["contains", at({ contains: { const: 1 }, maxContains: 1 }), { x: [1, 1] }, "input.x", {
    x: [1],
  }],
  [
    "prefixItems",
    at({ prefixItems: [{ type: "string" }], items: false }),
    { x: ["a", 1] },
    "input.x[1]",
    {
      x: ["a"],
    },
  ],
  ["if", { if: at({ const: 1 }), then: { required: ["y"] } }, { x: 1 }, "input.y", { x: 1, y: 1 }],
  ["dependentRequired", { dependentRequired: { x: ["y"] } }, { x: 1 }, "input", { x: 1, y: 1 }],
  ["dependentSchemas", { dependentSchemas: { x: { maxProperties: 1 } } }, { x: 1, y: 1 }, "input", {
    x: 1,
  }],
  [
    "unevaluatedProperties",
    { allOf: [at({})], unevaluatedProperties: false },
    { x: 1, z: 1 },
    "input.z",
    {
      x: 1,
    },
  ],
  ["$ref", FOLDED, { day: "tomorrow" }, "input.day", { day: "2026-02-28" }],
  ["type", { type: "string", pattern: "^[a-z]+$" }, "Nein", "input", "ja"],
  [
    "members of inner objects",
    at({ properties: { a: { pattern: "^b$" } } }),
    { x: { a: "c" } },
    "input.x.a",
    {
      x: { a: "b", undeclared: 1 },
    },
  ],
  [
    "files",
    { additionalProperties: false, properties: { q: { pattern: "^Q" } } },
    { q: "A" },
    "input.q",
    {
      q: "Q",
    },
  ],
];

function at(schema: JsonObject): JsonObject {
  return { properties: { x: schema } };
}

Deno.test("an input is checked by the whole schema before the first model call", async (t) => {
  await using cleanUp = new AsyncDisposableStack();
  const swarm = await Swarm.open();
  cleanUp.defer(() => swarm.close());
  const called = new Set<string>();
  const worker = swarm.startWorker({
    isCpuLimited: false,
    model: ({ context }) => {
      called.add(context.task.id);
      return { text: "Done" };
    },
  });
  cleanUp.defer(() => worker.stop());
  const useSchema = async (schema: JsonObject, agent = "test-planner") => {
    await swarm.sql`
      update public.agents set input_schema = ${swarm.sql.json(schema)} where slug = ${agent}`;
  };
  const assertRefused = async (taskId: string, path: string) => {
    const { error } = await swarm.until(taskId, "failed");
    assert.equal(error?.code, "TASK_INPUT_INVALID");
    assert.ok(error?.message.startsWith("Cannot start the task: input"), error?.message);
    assert.ok(error?.message.includes(`${path}: `), error?.message);
    assert.ok(!called.has(taskId));
    assert.ok((await swarm.steps(taskId)).every(({ state }) => state === "started"));
  };
  const asService = <T>(query: (sql: typeof swarm.sql) => Promise<T>) =>
    swarm.sql.begin(async (transaction) => {
      await transaction`select set_config('request.jwt.claims', '{"role": "service_role"}', true)`;
      return await query(transaction as unknown as typeof swarm.sql);
    });

  for (const [keyword, schema, wrong, path, right] of CASES) {
    await t.step(`${keyword} counts where a job begins with SQL`, async () => {
      await useSchema(schema);

      await assertRefused(await swarm.createTask(wrong), path);
      await swarm.until(await swarm.createTask(right), "completed");
    });
    await t.step(`${keyword} counts where a job begins with a request`, async () => {
      const request = (input: JsonValue) =>
        createTask(swarm.sql, { agent: "test-planner", input: input as JsonObject }, SERVICE);

      await assert.rejects(request(wrong), (error: Error & { code?: string }) => {
        assert.equal(error.code, "TASK_INPUT_INVALID");
        assert.ok(error.message.startsWith("Cannot create the task: input"), error.message);
        assert.ok(error.message.includes(`${path}: `), error.message);
        return true;
      });
      const { answer } = await request(right);
      await swarm.until(answer.task_id, "completed");
    });
  }

  await t.step("a refused request leaves no task", async () => {
    await useSchema(at({ pattern: "^a$" }));
    const request = { agent: "test-planner", input: { x: "b" }, idempotency_key: "once" };

    await assert.rejects(createTask(swarm.sql, request, SERVICE), { code: "TASK_INPUT_INVALID" });

    const [row] = await swarm.sql`
      select count(*)::int from public.tasks where idempotency_key = 'once'`;
    assert.equal(row?.count, 0);
  });

  await t.step(
    "a repeated request returns its task, also after the schema has changed",
    async () => {
      await useSchema(at({ pattern: "^a$" }));
      const request = { agent: "test-planner", input: { x: "a" }, idempotency_key: "again" };
      const { answer } = await createTask(swarm.sql, request, SERVICE);
      await useSchema(at({ pattern: "^b$" }));

      const again = await createTask(swarm.sql, request, SERVICE);

      assert.deepEqual([again.answer.task_id, again.isNew], [answer.task_id, false]);
      // The job keeps the schema with which it began.
      await swarm.until(answer.task_id, "completed");
    },
  );

  await t.step("a job that failed for its input runs after the schema was corrected", async () => {
    await useSchema(at({ pattern: "^b$" }));
    const taskId = await swarm.createTask({ x: "a" });
    await assertRefused(taskId, "input.x");
    await useSchema(at({ pattern: "^a$" }));

    await asService((sql) => sql`select public.retry_task(${taskId}::uuid)`);

    await swarm.until(taskId, "completed");
  });

  await t.step("a message does not continue a job whose input was refused", async () => {
    await useSchema(at({ pattern: "^b$" }));
    const taskId = await swarm.createTask({ x: "a" });
    await assertRefused(taskId, "input.x");

    await asService((sql) => sql`select public.continue_task(${taskId}::uuid, '"Go on"')`);

    await swarm.until(taskId, "failed");
    assert.ok(!called.has(taskId));
  });

  await t.step("a fork with another input is checked, at its first step and later", async () => {
    await useSchema(at({ pattern: "^a" }));
    const taskId = await swarm.createTask({ x: "a" });
    await swarm.until(taskId, "completed");
    await asService((sql) => sql`select public.continue_task(${taskId}::uuid, '"Go on"')`);
    await swarm.until(taskId, "completed");
    const fork = async (fromSeq: number, input: JsonObject) => {
      const [row] = await asService((sql) =>
        sql`select public.fork_task(${taskId}::uuid, ${fromSeq}::int, ${sql.json({ input })}) as id`
      );
      return String(row?.id);
    };

    for (const fromSeq of [1, 3]) {
      const wrong = await fork(fromSeq, { x: "b" });
      assert.equal((await swarm.until(wrong, "failed")).error?.code, "TASK_INPUT_INVALID");
      assert.ok(!called.has(wrong));
      await swarm.until(await fork(fromSeq, { x: "ab" }), "completed");
    }
  });

  await t.step("a schedule's job is checked", async () => {
    await useSchema(at({ pattern: "^a$" }));
    await swarm.sql`
      insert into public.schedules (name, agent, input, cron)
      values ('nightly', 'test-planner', '{"x": "b"}', '* * * * *')`;
    await swarm.sql`update public.schedules set next_run_at = now() where name = 'nightly'`;

    await swarm.sql`select private.run_due_schedules()`;

    const [row] = await swarm.sql`
      select id from public.tasks where created_at > now() - interval '1 hour'
      order by created_at desc limit 1`;
    await assertRefused(String(row?.id), "input.x");
    await swarm.sql`delete from public.schedules where name = 'nightly'`;
  });

  await t.step("a schema that cannot be checked refuses each input and says why", async () => {
    await useSchema(at({ pattern: "(a)\\1" }));
    const taskId = await swarm.createTask({ x: "aa" });

    const { error } = await swarm.until(taskId, "failed");

    assert.equal(error?.code, "TASK_INPUT_INVALID");
    assert.match(
      error?.message ?? "",
      /^Cannot start the task: input: the input cannot be checked: /,
    );
    assert.ok(!called.has(taskId));
  });
});

Deno.test("a subtask with a wrong input is not created, and the model reads what is wrong", async () => {
  await using cleanUp = new AsyncDisposableStack();
  const swarm = await Swarm.open();
  cleanUp.defer(() => swarm.close());
  await swarm.sql`
    update public.agents set input_schema = '{"properties": {"day": {"format": "date"}}}'
    where slug = 'test-reader'`;
  let results: readonly ModelMessage[] = [];
  const worker = swarm.startWorker({
    model: (call) => {
      if (call.context.task.agent_slug === "test-reader") return { text: "Read" };
      results = call.prompt.messages.filter(({ role }) => role === "tool");
      const day = ["tomorrow", "2026-12-24"][turnNumber(call)];
      if (day === undefined) return { text: "Done" };
      return { calls: [ask("create_subtask", { agent: "test-reader", input: { day } })] };
    },
  });
  cleanUp.defer(() => worker.stop());

  const taskId = await swarm.createTask();
  await swarm.until(taskId, "completed");

  const children = await swarm.sql`
    select input from public.tasks where parent_id = ${taskId}::uuid`;
  assert.deepEqual(children.map(({ input }) => input), [{ day: "2026-12-24" }]);
  assert.match(JSON.stringify(results[0]), /TASK_INPUT_INVALID/);
  assert.match(JSON.stringify(results[0]), /input\.day: .*date/);
});
