import assert from "node:assert/strict";
import { ChatAssembly } from "./chat_assembly.ts";
import type { ChatPart } from "./chat_part.ts";
import type { JobEvent, JobEventData, JobEventType } from "./job_event.ts";
import { MessageParts } from "./message_parts.ts";

const JOB = "00000000-0000-4000-8000-000000000001";
const CHILD = "00000000-0000-4000-8000-000000000002";

function event<Type extends JobEventType>(
  type: Type,
  data: JobEventData[Type],
  task_id = JOB,
): JobEvent {
  return { id: 1, task_id, type, at: "2026-01-01T00:00:00Z", data } as JobEvent;
}

const BEGIN = [
  event("task.created", { agent: "writer" }),
  event("task.started", { worker_id: "w", epoch: 1, deliveries: 1 }),
  event("model.started", { step_seq: 1 }),
];
const END = event("task.completed", { output: "All of it." });

function answered(text: string, more: object = {}): JobEvent {
  return event("model.completed", { step_seq: 1, text, tool_calls: [], ...more });
}

/** The parts of the message that a page shows. */
function shown(parts: readonly ChatPart[]): unknown[] {
  const message = new MessageParts();
  for (const part of parts) message.add(part);
  return message.parts;
}

function assembly(canReset = false): ChatAssembly {
  return new ChatAssembly({ job_id: JOB, step: 0, canReset });
}

Deno.test("streamed text and the same text at once make the same message", () => {
  const streaming = assembly();
  const atOnce = assembly();

  const streamed = [
    ...BEGIN.flatMap((one) => streaming.note(one)),
    ...streaming.add({ step: 1, offset: 0, text: "All " }),
    ...streaming.add({ step: 1, offset: 4, text: "of " }),
    ...streaming.note(answered("All of it.")),
    ...streaming.note(END),
  ];
  const whole = [...BEGIN, answered("All of it."), END].flatMap((one) => atOnce.note(one));

  assert.deepEqual(shown(streamed), shown(whole));
  assert.deepEqual(shown(whole), [
    { type: "step-start" },
    { type: "text", text: "All of it.", state: "done" },
  ]);
  assert.deepEqual(streamed.at(-1), { type: "finish", finishReason: "stop" });
});

/** The texts of a message, each with the mark of a part that is not whole. */
function textsOf(parts: readonly ChatPart[]): unknown[] {
  return shown(parts).flatMap((part) => {
    const { type, text, providerMetadata } = part as Record<string, unknown>;
    return type !== "text" ? [] : [providerMetadata === undefined ? text : [text, "partial"]];
  });
}

Deno.test("an answer with white space around it is shown once, without it", () => {
  for (
    const pieces of [
      ["Done.\n"],
      ["\n\nDone."],
      ["  ", "\n", "Done.", " ", "\n\n"],
      [" One\n", "\n", "\ttwo \n"],
      ['{"ok": true}\n'],
    ]
  ) {
    const text = pieces.join("");
    const end = event("task.completed", { output: text.trim() });
    const streaming = assembly();
    const atOnce = assembly();

    const streamed = [
      ...BEGIN.flatMap((one) => streaming.note(one)),
      ...pieces.flatMap((piece, index) => {
        const offset = pieces.slice(0, index).join("").length;
        return streaming.add({ step: 1, offset, text: piece });
      }),
      ...[answered(text), end].flatMap((one) => streaming.note(one)),
    ];
    const whole = [...BEGIN, answered(text), end].flatMap((one) => atOnce.note(one));

    assert.deepEqual(textsOf(streamed), [text.trim()]);
    assert.deepEqual(textsOf(whole), [text.trim()]);
    assert.ok(!streamed.some(({ type }) => type === "reset-step"));
  }
});

Deno.test("an output with white space around it is shown once, after the text of its answer", () => {
  const output = "All of it.\n";
  const final = answered("Done:\n", {
    tool_calls: [{ call_id: "end", name: "complete_task", arguments: { output } }],
  });
  const streaming = assembly();

  const streamed = [
    ...BEGIN.flatMap((one) => streaming.note(one)),
    ...streaming.add({ step: 1, offset: 0, text: "Done:\n" }),
    ...streaming.add({ step: 1, offset: 6, text: "\n\nAll of it.\n" }),
    ...[final, event("task.completed", { output })].flatMap((one) => streaming.note(one)),
  ];

  assert.deepEqual(textsOf(streamed), ["Done:\n\n\nAll of it."]);
});

/** The events of an answer that was cut twice and continued once. */
const CUT = [
  ...BEGIN,
  answered("One, ", { finish_reason: "length", reasoning: "Hm." }),
  event("model.started", { step_seq: 2, continues: 1 }),
  event("model.completed", { step_seq: 2, text: "two, ", finish_reason: "length", continues: 1 }),
];

Deno.test("the parts of an answer that was cut are one text in one step", () => {
  const streaming = assembly();
  const atOnce = assembly();
  const rest = [
    event("model.started", { step_seq: 3, continues: 2 }),
    event("model.completed", { step_seq: 3, text: "three.\n", continues: 2 }),
    event("task.completed", { output: "One, two, three." }),
  ];

  const streamed = [
    ...BEGIN.flatMap((one) => streaming.note(one)),
    ...streaming.add({ step: 1, offset: 0, text: "One, " }),
    ...CUT.slice(3, 5).flatMap((one) => streaming.note(one)),
    ...streaming.add({ step: 2, offset: 0, text: "tw" }),
    ...streaming.add({ step: 2, offset: 2, text: "o, " }),
    ...[...CUT.slice(5), ...rest].flatMap((one) => streaming.note(one)),
  ];
  const whole = [...CUT, ...rest].flatMap((one) => atOnce.note(one));

  assert.deepEqual(textsOf(streamed), ["One, two, three."]);
  assert.deepEqual(shown(streamed), shown(whole));
  assert.equal(whole.filter(({ type }) => type === "start-step").length, 1);
  assert.deepEqual(whole.at(-1), { type: "finish", finishReason: "stop" });
});

Deno.test("an answer that stays cut ends with its reason, and its text is marked", () => {
  const answer = assembly();

  const parts = [
    ...CUT,
    event("task.completed", { output: "One, two," }),
  ].flatMap((one) => answer.note(one));

  assert.deepEqual(textsOf(parts), [["One, two,", "partial"]]);
  assert.deepEqual(parts.at(-1), { type: "finish", finishReason: "length" });
});

Deno.test("a cancelled continuation keeps all that had arrived", () => {
  const answer = assembly();

  const parts = [
    ...CUT.slice(0, 5),
    event("model.interrupted", { step_seq: 2, usage: {}, text: "tw" }),
    event("task.cancelled", {}),
  ].flatMap((one) => answer.note(one));

  assert.deepEqual(textsOf(parts), [["One, tw", "partial"]]);
});

Deno.test("a call of a turn that was cut is shown as one that failed", () => {
  const answer = assembly();

  const parts = [
    ...BEGIN,
    answered("Now:", {
      finish_reason: "length",
      tool_calls: [{ call_id: "c", name: "desk__draw", arguments: {} }],
    }),
    event("tool.failed", { step_seq: 2, call_id: "c", text: "desk__draw was not called" }),
    event("model.started", { step_seq: 3 }),
    event("model.completed", { step_seq: 3, text: "Drawn." }),
    event("task.completed", { output: "Drawn." }),
  ].flatMap((one) => answer.note(one));

  assert.deepEqual(textsOf(parts), ["Now:", "Drawn."]);
  assert.equal(parts.find(({ type }) => type === "tool-output-error")?.type, "tool-output-error");
  assert.deepEqual(parts.at(-1), { type: "finish", finishReason: "stop" });
});

const FINAL = answered("Done:", {
  tool_calls: [{ call_id: "end", name: "complete_task", arguments: { output: "All of it." } }],
});

Deno.test("an output that streams is shown once, and as it is without streaming", () => {
  const streaming = assembly();
  const atOnce = assembly();

  const streamed = [
    ...BEGIN.flatMap((one) => streaming.note(one)),
    ...streaming.add({ step: 1, offset: 0, text: "Done:" }),
    ...streaming.add({ step: 1, offset: 5, text: "\n\nAll of" }),
    ...[FINAL, END].flatMap((one) => streaming.note(one)),
  ];
  const whole = [...BEGIN, FINAL, END].flatMap((one) => atOnce.note(one));

  assert.deepEqual(shown(streamed), shown(whole));
  assert.deepEqual(shown(whole).slice(1), [
    { type: "text", text: "Done:\n\nAll of it.", state: "done" },
  ]);
});

Deno.test("an output that a guardrail has changed follows the text of its answer", () => {
  const answer = assembly();

  const parts = [...BEGIN, FINAL, event("task.completed", { output: "Some of it." })]
    .flatMap((one) => answer.note(one));

  assert.deepEqual(shown(parts).slice(1), [
    { type: "text", text: "Done:", state: "done" },
    { type: "text", text: "Some of it.", state: "done" },
  ]);
});

Deno.test("an output that the task refuses is shown as partial only where it has streamed", () => {
  const again = [
    event("model.started", { step_seq: 3 }),
    event("model.completed", { step_seq: 3, text: "Again." }),
    event("task.completed", { output: "Again." }),
  ];
  const textPartsOf = (parts: readonly ChatPart[]) =>
    shown(parts).filter((part) => (part as { type: string }).type === "text");
  const streaming = assembly();
  const atOnce = assembly();

  const streamed = textPartsOf([
    ...BEGIN.flatMap((one) => streaming.note(one)),
    ...streaming.add({ step: 1, offset: 0, text: "Done:\n\nAll" }),
    ...[FINAL, ...again].flatMap((one) => streaming.note(one)),
  ]);
  const whole = textPartsOf([...BEGIN, FINAL, ...again].flatMap((one) => atOnce.note(one)));

  const last = { type: "text", text: "Again.", state: "done" };
  assert.deepEqual(streamed, [
    {
      type: "text",
      text: "Done:\n\nAll of it.",
      state: "done",
      providerMetadata: { supaswarm: { is_partial: true } },
    },
    last,
  ]);
  assert.deepEqual(whole, [{ type: "text", text: "Done:", state: "done" }, last]);
});

Deno.test("a call that is made again and begins with the same text shows no cut", () => {
  const answer = assembly();

  const parts = [
    ...BEGIN.flatMap((one) => answer.note(one)),
    ...answer.add({ step: 1, offset: 0, text: "All of" }),
    ...answer.note(event("model.interrupted", { step_seq: 1, usage: {}, text: "All of" })),
    ...answer.add({ step: 1, offset: 0, text: "All " }),
    ...answer.note(answered("All of it.")),
    ...answer.note(END),
  ];

  assert.deepEqual(shown(parts).slice(1), [{ type: "text", text: "All of it.", state: "done" }]);
});

Deno.test("another text replaces the one that was cut, for readers that can drop it", () => {
  const partsOf = (answer: ChatAssembly) => [
    ...BEGIN.flatMap((one) => answer.note(one)),
    ...answer.add({ step: 1, offset: 0, text: "Other" }),
    ...answer.note(answered("All of it.")),
  ];

  const types = partsOf(assembly(true)).map(({ type }) => type);
  assert.deepEqual(types.slice(3, 5), ["reset-step", "text-start"]);
  const [, cut, whole] = shown(partsOf(assembly(false))) as { providerMetadata?: unknown }[];
  assert.deepEqual(cut?.providerMetadata, { supaswarm: { is_partial: true } });
  assert.equal(whole?.providerMetadata, undefined);
});

Deno.test("a cancelled answer keeps the part that had arrived", () => {
  const answer = assembly();

  const parts = [
    ...BEGIN.flatMap((one) => answer.note(one)),
    ...answer.add({ step: 1, offset: 0, text: "\nSome of " }),
    ...answer.note(event("model.interrupted", { step_seq: 1, usage: {}, text: "\nSome of " })),
    ...answer.note(event("task.cancelled", {})),
  ];

  assert.deepEqual(shown(parts).at(-1), {
    type: "text",
    text: "Some of ",
    state: "done",
    providerMetadata: { supaswarm: { is_partial: true } },
  });
  assert.equal(parts.at(-1)?.type, "abort");
});

Deno.test("calls, their results, files and sources are parts of their step", () => {
  const answer = assembly();

  const parts = [
    ...BEGIN,
    answered("", {
      reasoning: "Let me look.",
      provider_tool_calls: [{
        name: "web_search",
        output: [{ url: "https://a.test", title: "A" }],
      }],
      tool_calls: [
        { call_id: "c", name: "desk__draw", arguments: { what: "a rose" } },
        { call_id: "d", name: "desk__fail", arguments: {} },
      ],
    }),
    event("tool.started", { step_seq: 2, name: "desk__draw", call_id: "c" }),
    event("tool.completed", {
      step_seq: 2,
      call_id: "c",
      text: "Drawn.",
      files: [{ path: "job/rose.png", media_type: "image/png", bytes: 3 }],
    }),
    event("tool.failed", { step_seq: 3, call_id: "d", text: "No paper." }),
  ].flatMap((one) => answer.note(one));

  assert.deepEqual(shown(parts), [
    { type: "step-start" },
    { type: "reasoning", id: "reasoning-1", text: "Let me look.", state: "done" },
    { type: "source-url", sourceId: "source-1-0", url: "https://a.test", title: "A" },
    {
      type: "dynamic-tool",
      toolName: "desk__draw",
      toolCallId: "c",
      state: "output-available",
      input: { what: "a rose" },
      output: "Drawn.",
    },
    {
      type: "dynamic-tool",
      toolName: "desk__fail",
      toolCallId: "d",
      state: "output-error",
      input: {},
      errorText: "No paper.",
    },
    {
      type: "file",
      url: "/storage/v1/object/authenticated/supaswarm-data/job/rose.png",
      mediaType: "image/png",
      providerMetadata: { supaswarm: { path: "job/rose.png" } },
    },
  ]);
});

Deno.test("a job whose only open subtask asks a person waits, until the person answers", () => {
  const answer = assembly();
  const parts = [
    ...BEGIN,
    answered("", { tool_calls: [{ call_id: "c", name: "create_subtask", arguments: {} }] }),
    event("subtask.created", { step_seq: 2, subtask_id: CHILD, agent: "critic" }),
    event("task.parked", { status: "pending_subtask" }),
    event("task.started", { worker_id: "w", epoch: 1, deliveries: 1 }, CHILD),
  ].flatMap((one) => answer.note(one));
  assert.equal(answer.waitsForPerson, false);

  parts.push(
    ...answer.note(event("review.requested", { step_seq: 4, question: "Well?" }, CHILD)),
    ...answer.note(event("task.parked", { status: "needs_human_review" }, CHILD)),
  );
  assert.equal(answer.waitsForPerson, true);
  const approval = parts.find(({ type }) => type === "tool-approval-request");
  assert.ok(approval?.type === "tool-approval-request");
  assert.equal(approval.approvalId, `${CHILD}:4`);
  assert.deepEqual(parts.findLast(({ type }) => type === "data-subtask"), {
    type: "data-subtask",
    id: CHILD,
    data: { task_id: CHILD, agent: "critic", status: "needs_human_review" },
  });

  answer.note(event("review.answered", { step_seq: 4, approved: true }, CHILD));
  assert.equal(answer.waitsForPerson, false);
});
