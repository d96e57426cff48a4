import { afterEach, expect, test, vi } from "vitest";
import { flushPromises, mount } from "@vue/test-utils";
import { defineComponent, ref } from "vue";
import type { ToolCall } from "./run_tool.ts";
import { type ToolRun, useToolRun } from "./use_tool_run.ts";

/** Calls that the test answers, in their order; also those that were cancelled. */
const calls = vi.hoisted(() => ({
  open: [] as { call: ToolCall; answer: PromiseWithResolvers<unknown> }[],
}));
vi.mock("./run_tool.ts", () => ({
  runTool: (call: ToolCall) => {
    const answer = Promise.withResolvers<unknown>();
    calls.open.push({ call, answer });
    return answer.promise;
  },
}));

afterEach(() => {
  calls.open = [];
});

test("the answer of a tool that was left is not shown as that of the next one", async () => {
  const tool = ref("find");
  let toolRun: ToolRun | undefined;
  const page = mount(defineComponent({
    setup() {
      toolRun = useToolRun(tool);
      return () => null;
    },
  }));
  if (toolRun === undefined) throw new Error("The component runs no tools");
  const { run, last, isRunning } = toolRun;
  const answer = (text: string) => ({ result: { content: [{ type: "text", text }] }, tookMs: 1 });

  const first = run({ server: "docs", toolName: "find", parameters: {} });
  tool.value = "read";
  await flushPromises();
  expect(isRunning.value).toBe(false);
  const second = run({ server: "docs", toolName: "read", parameters: {} });
  calls.open[0]?.answer.resolve(answer("found"));
  expect(await first).toBe(null);
  expect(isRunning.value).toBe(true);
  expect(last.value).toBe(null);

  calls.open[1]?.answer.resolve(answer("read"));
  await second;
  expect(last.value).toEqual(answer("read"));
  expect(isRunning.value).toBe(false);
  tool.value = "find";
  await flushPromises();
  expect(last.value).toBe(null);
  page.unmount();
});
