import { expect, test } from "vitest";
import { mount } from "@vue/test-utils";
import TaskWarnings from "./TaskWarnings.vue";

const FAILED = { server: "crm", tool: "find", code: "TOOL_TIMEOUT", message: "Too slow" };
const CUT = {
  code: "MODEL_OUTPUT_CUT",
  message: "The model's answer was cut at the output limit of 64 tokens",
  step_seq: 3,
};

test("an answer that was cut is no failure of a tool", () => {
  const text = mount(TaskWarnings, { props: { warnings: [CUT] } }).text();

  expect(text).toContain("The result may be incomplete.");
  expect(text).toContain("MODEL_OUTPUT_CUT");
  expect(text).toContain("output limit of 64 tokens");
  expect(text).not.toContain("tool");
});

test("tools that failed are named", () => {
  const text = mount(TaskWarnings, { props: { warnings: [FAILED] } }).text();

  expect(text).toContain("a tool failed");
  expect(text).toContain("crm / find");
});
