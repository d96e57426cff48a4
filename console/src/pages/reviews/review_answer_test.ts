import { expect, test } from "vitest";
import { askedCall, optionsOf, otherAfter, outcomeText, reviewAnswer } from "./review_answer.ts";

const CALL = {
  task_id: "t1",
  seq: 2,
  kind: "call" as const,
  context: { server: "bank", tool: "pay", arguments: { amount: 500 }, input_schema: {} },
};
const GIVEN = { isApproved: true, choice: "", comment: " ", arguments: { amount: 500 } };

test("reviewAnswer() sends arguments only when an approved call has others", () => {
  const responses = [
    GIVEN,
    { ...GIVEN, arguments: { amount: 5 } },
    { ...GIVEN, arguments: { amount: 5 }, isApproved: false },
  ].map((given) => reviewAnswer(CALL, given).response);

  expect(responses).toEqual([{}, { arguments: { amount: 5 } }, {}]);
});

test("reviewAnswer() sends the chosen option and the comment", () => {
  const question = { task_id: "t1", seq: 2, kind: "question" as const, context: null };
  const given = { isApproved: false, choice: "Later", comment: " Not yet ", arguments: null };

  expect(reviewAnswer(question, given)).toEqual({
    taskId: "t1",
    seq: 2,
    isApproved: false,
    response: { choice: "Later" },
    comments: "Not yet",
    holdSeconds: 0,
  });
});

test("reviewAnswer() holds the answer to a call, so that it can be taken back", () => {
  expect(reviewAnswer(CALL, GIVEN).holdSeconds).toBeGreaterThan(0);
  expect(reviewAnswer(CALL, { ...GIVEN, isApproved: false }).holdSeconds).toBeGreaterThan(0);
});

test("askedCall() reads only reviews of calls, and optionsOf() only texts", () => {
  expect(askedCall(CALL)?.tool).toBe("pay");
  expect(askedCall({ ...CALL, kind: "rerun" })).toBeNull();
  expect(askedCall({ kind: "question", context: CALL.context })).toBeNull();
  expect(optionsOf({ options: ["a", "b"] })).toEqual(["a", "b"]);
  expect(optionsOf({ options: null })).toEqual([]);
});

test("outcomeText() says who answered, and how", () => {
  const answered = {
    approved: false,
    response: {},
    comments: null,
    created_by: "ada",
    answered_as: "user" as const,
    client_id: null,
    answered_at: "2026-11-27T09:00:00Z",
  };
  expect(outcomeText(answered, "ada")).toBe("You, in another window, rejected it.");
  expect(outcomeText({ ...answered, answered_as: "service" }, "ada")).toBe(
    "A secret key of the project rejected it.",
  );
  expect(outcomeText({ ...answered, approved: null, answered_as: null }, "ada")).toBe(
    "The task ended before this question was answered.",
  );
});

test("otherAfter() reaches every review, and none when there is no other", () => {
  const reviews = [{ id: "1" }, { id: "2" }, { id: "3" }];

  expect(["1", "2", "3", "gone"].map((id) => otherAfter(reviews, id)?.id))
    .toEqual(["2", "3", "1", "1"]);
  expect(otherAfter([{ id: "1" }], "1")).toBeNull();
});
