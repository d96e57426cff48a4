import { expect, test } from "vitest";
import { mount } from "@vue/test-utils";
import JobEnd from "./JobEnd.vue";

test("a job that failed says why and what to do, in sentences", () => {
  const error = {
    code: "MODEL_NOT_FOUND",
    message: "Cannot get an answer from provider 'demo': it does not serve the model 'x'",
    hint: "Set the agent's model to one that the provider serves.",
    details: { status: 404 },
  };
  const end = mount(JobEnd, { props: { label: "Try 1", task: { error, output: null } } });

  expect(end.get("h3").text()).toBe("Try 1");
  expect(end.get("strong").text()).toBe(error.message);
  expect(end.text()).toContain(error.hint);
  expect(end.text()).not.toContain("{");
});

test("a job that completed shows its output", () => {
  const task = { error: null, output: { words: 3 } };
  const end = mount(JobEnd, { props: { label: "Try 1", task } });

  expect(JSON.parse(end.get("pre").text())).toEqual({ words: 3 });
});
