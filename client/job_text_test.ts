import assert from "node:assert/strict";
import type { JobEvent, JobEventData } from "./job_event.ts";
import { TextAssembly, type TextPart } from "./job_text.ts";

Deno.test("streamed pieces grow into the answer, whose end comes with the event", () => {
  const text = new TextAssembly();

  const parts = [
    ...text.note(started(1)),
    ...text.add({ step: 1, offset: 0, text: "One " }),
    ...text.add({ step: 1, offset: 4, text: "two " }),
    ...text.note(completed(1, "One two three")),
  ];

  assert.deepEqual(parts.map(({ delta }) => delta), ["One ", "two ", "three"]);
  assert.deepEqual(parts.map(({ text }) => text), ["One ", "One two ", "One two three"]);
  assert.ok(parts.every(({ restarted }) => !restarted));
});

Deno.test("an answer that ends the task keeps the output that has streamed", () => {
  const text = new TextAssembly();

  const parts = [
    ...text.note(started(1)),
    ...text.add({ step: 1, offset: 0, text: "Three" }),
    ...text.note({
      ...completed(1, ""),
      data: {
        step_seq: 1,
        tool_calls: [{ call_id: "a", name: "complete_task", arguments: { output: "Three." } }],
      },
    } as JobEvent),
  ];

  assert.deepEqual(parts.map(({ delta, restarted }) => ({ delta, restarted })), [
    { delta: "Three", restarted: false },
    { delta: ".", restarted: false },
  ]);
});

Deno.test("a call that starts again replaces its text", () => {
  const text = new TextAssembly();

  const parts = [
    ...text.note(started(1)),
    ...text.add({ step: 1, offset: 0, text: "The cut answer" }),
    ...text.add({ step: 1, offset: 0, text: "The new " }),
    ...text.add({ step: 1, offset: 8, text: "one" }),
    ...text.note(completed(1, "The new one")),
  ];

  assert.equal(shown(parts), "The new one");
  assert.deepEqual(parts.map(({ restarted }) => restarted), [false, true, false]);
});

Deno.test("lost, repeated and late pieces leave the answer whole", () => {
  const text = new TextAssembly();

  const parts = [
    ...text.note(started(1)),
    ...text.add({ step: 1, offset: 0, text: "One " }),
    ...text.add({ step: 1, offset: 8, text: "three " }),
    ...text.add({ step: 1, offset: 4, text: "two " }),
    ...text.add({ step: 1, offset: 4, text: "two " }),
    ...text.note(completed(1, "One two three four")),
    ...text.add({ step: 1, offset: 8, text: "three " }),
  ];

  assert.equal(shown(parts), "One two three four");
  assert.equal(parts.filter(({ restarted }) => restarted).length, 0);
});

Deno.test("the next answer's pieces wait for the end of the answer before", () => {
  const text = new TextAssembly();

  const parts = [
    ...text.note(started(1)),
    ...text.add({ step: 1, offset: 0, text: "First" }),
    ...text.add({ step: 3, offset: 0, text: "Sec" }),
    ...text.note(completed(1, "First.")),
    ...text.note(started(3)),
    ...text.note(completed(3, "Second.")),
  ];

  assert.deepEqual(parts.map(({ step, text }) => `${step} ${text}`), [
    "1 First",
    "1 First.",
    "3 Sec",
    "3 Second.",
  ]);
});

Deno.test("a reader that begins within a call shows the call when it starts again, or at its end", () => {
  const text = new TextAssembly();

  assert.deepEqual(text.add({ step: 5, offset: 40, text: "middle" }), []);
  assert.equal(shown(text.add({ step: 5, offset: 0, text: "Again" })), "Again");
  assert.equal(shown(text.note(completed(5, "Again, whole"))), "Again, whole");
});

Deno.test("a call that continues a cut answer adds to its text", () => {
  const text = new TextAssembly();

  const parts = [
    ...text.note(started(1)),
    ...text.note(completed(1, "One ", { finish_reason: "length" })),
    ...text.note(started(2, { continues: 1 })),
    ...text.add({ step: 2, offset: 0, text: "tw" }),
    ...text.add({ step: 2, offset: 2, text: "o " }),
    ...text.note(completed(2, "two three", { continues: 1 })),
  ];

  assert.deepEqual(
    parts.map(({ step, text, delta, restarted }) => [step, text, delta, restarted]),
    [
      [1, "One ", "One ", false],
      [2, "One tw", "tw", false],
      [2, "One two ", "o ", false],
      [2, "One two three", "three", false],
    ],
  );
});

function shown(parts: readonly TextPart[]): string | undefined {
  return parts.at(-1)?.text;
}

function started(step: number, more: { readonly continues?: number } = {}): JobEvent {
  return { ...eventOf("model.started"), data: { step_seq: step, ...more } };
}

function completed(
  step: number,
  text: string,
  more: Partial<JobEventData["model.completed"]> = {},
): JobEvent {
  return { ...eventOf("model.completed"), data: { step_seq: step, text, ...more } };
}

function eventOf<Type extends JobEvent["type"]>(type: Type) {
  return { id: 1, task_id: "t", type, at: "2026-11-01T00:00:00Z" } as const;
}
