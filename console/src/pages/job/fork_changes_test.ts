import { describe, expect, test } from "vitest";
import { callChangesOf, forkDraft, type ForkOrigin, readForkDraft } from "./fork_changes.ts";

const toolStep: ForkOrigin = {
  input: { topic: "queues" },
  step: {
    kind: "tool",
    name: "search",
    call_id: "c1",
    input: { server: "web", arguments: { query: "old" } },
    output: { text: "three results" },
  },
};
const review: ForkOrigin = {
  input: "Ask me",
  step: {
    kind: "system",
    name: "request_human_review",
    call_id: "c2",
    input: { arguments: { question: "Go on?" } },
    output: null,
  },
};

describe("readForkDraft()", () => {
  test("makes no changes by default", () => {
    expect(readForkDraft(forkDraft(toolStep), toolStep)).toEqual({
      kind: "changes",
      changes: null,
    });
  });

  test("sends the changed input in the form of the task's input", () => {
    const object = { ...forkDraft(toolStep), changesInput: true, input: '{"topic": "locks"}' };
    expect(readForkDraft(object, toolStep)).toMatchObject({
      changes: { input: { topic: "locks" } },
    });
    const text = { ...forkDraft(review), changesInput: true, input: "123" };
    expect(readForkDraft(text, review)).toMatchObject({ changes: { input: "123" } });
  });

  test("sends changed arguments, which must be an object", () => {
    const draft = { ...forkDraft(toolStep), callChange: "arguments" as const };
    expect(JSON.parse(draft.arguments)).toEqual({ query: "old" });
    expect(readForkDraft({ ...draft, arguments: '{"query": "new"}' }, toolStep)).toMatchObject({
      changes: { arguments: { query: "new" } },
    });
    for (const wrong of ["[1]", "null", "{", '"text"']) {
      expect(readForkDraft({ ...draft, arguments: wrong }, toolStep).kind).toBe("problem");
    }
  });

  test("sends an answer in place of the tool, as JSON or as text", () => {
    const draft = { ...forkDraft(toolStep), callChange: "answer" as const };
    expect(readForkDraft({ ...draft, answer: '{"hits": 0}' }, toolStep)).toMatchObject({
      changes: { answer: { hits: 0 } },
    });
    expect(readForkDraft({ ...draft, answer: "nothing found" }, toolStep)).toMatchObject({
      changes: { answer: "nothing found" },
    });
    expect(readForkDraft({ ...draft, answer: " " }, toolStep).kind).toBe("problem");
  });

  test("sends a decision in place of a reviewer", () => {
    const draft = {
      ...forkDraft(review),
      callChange: "answer" as const,
      isApproved: false,
      response: '{"choice": "Later"}',
      comments: " wait ",
    };
    expect(readForkDraft(draft, review)).toMatchObject({
      changes: { answer: { approved: false, response: { choice: "Later" }, comments: "wait" } },
    });
  });
});

test("callChangesOf() offers only changes that the platform accepts at the step", () => {
  expect(callChangesOf(toolStep)).toEqual(["none", "arguments", "answer"]);
  expect(callChangesOf(review)).toEqual(["none", "arguments", "answer"]);
  expect(callChangesOf({ input: "x", step: null })).toEqual(["none"]);
  const saved = {
    ...toolStep.step,
    kind: "system",
    name: "save_intermediate_data",
    input: null,
    output: null,
  };
  expect(callChangesOf({ input: "x", step: { ...saved, call_id: "c3" } })).toEqual([
    "none",
    "arguments",
  ]);
});
