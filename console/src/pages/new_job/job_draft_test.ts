import { describe, expect, test } from "vitest";
import { emptyDraft, fillInput, fillMetadata, type JobDraft, readDraft } from "./job_draft.ts";

function draftWith(change: Partial<JobDraft>): JobDraft {
  return { ...emptyDraft(), agent: "writer", text: "Write", ...change };
}

describe("readDraft()", () => {
  test("makes a request from text, form or JSON", () => {
    expect(readDraft(draftWith({}), "k")).toMatchObject({
      job: { agent: "writer", input: "Write" },
    });
    const form = draftWith({ mode: "form", form: { topic: "queues", words: 300 } });
    expect(readDraft(form, "k")).toMatchObject({ job: { input: { topic: "queues", words: 300 } } });
    const json = draftWith({ mode: "json", json: '{"deep": [1]}' });
    expect(readDraft(json, "k")).toMatchObject({ job: { input: { deep: [1] } } });
  });

  test("sends priority, start time, metadata and budget in the platform's units", () => {
    const draft = draftWith({
      priority: "high",
      runAfter: "2026-12-01T08:00",
      metadata: [{ name: " team ", value: "docs" }, { name: "", value: "lost" }],
      maxCostUsd: "0.5",
      maxMinutes: "2",
    });
    expect(readDraft(draft, "k")).toMatchObject({
      job: {
        options: {
          priority: "high",
          runAfter: new Date("2026-12-01T08:00"),
          metadata: { team: "docs" },
          budget: { maxCostMicroUsd: 500_000, maxWallSeconds: 120 },
        },
      },
    });
  });

  test("names the change that a draft needs before the job can start", () => {
    for (
      const wrong of [
        { agent: "" },
        { text: " " },
        { mode: "form" },
        { mode: "json", json: "[1]" },
        { maxCostUsd: "much" },
      ]
    ) expect(readDraft(draftWith(wrong), "k").kind).toBe("problem");
  });
});

test("an earlier job's input opens in the format that can show all of it", () => {
  const draft = emptyDraft();
  fillInput(draft, { topic: "queues", nested: { list: [1] } });
  fillMetadata(draft, { team: "docs", tries: 5 });
  expect(draft).toMatchObject({
    mode: "form",
    form: { topic: "queues", nested: { list: [1] } },
    metadata: [{ name: "team", value: "docs" }],
  });
  fillInput(draft, "Just text");
  expect(draft).toMatchObject({ mode: "text", text: "Just text" });
  fillInput(draft, [1, 2]);
  expect(draft).toMatchObject({ mode: "json", json: "[\n  1,\n  2\n]" });
});
