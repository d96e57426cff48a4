import { expect, test } from "vitest";
import { mount } from "@vue/test-utils";
import type { DescribedTool } from "../../../client/mod.ts";
import MCPExecutionPanel from "./MCPExecutionPanel.vue";

const TOOL: DescribedTool = {
  name: "find",
  inputSchema: { type: "object", properties: { words: { type: "string" } } },
  model_options: null,
  scopes: [],
  missing_scopes: [],
  successful_parameters: [],
  is_shape: false,
  success_count: 0,
  last_successful_call: null,
  last_updated: null,
};

test("typed arguments stay when the server is read again, with more successes of the tool", async () => {
  const panel = mount(MCPExecutionPanel, { props: { tool: TOOL, start: { words: "old" } } });
  const input = panel.get<HTMLInputElement>("input");
  expect(input.element.value).toBe("old");
  await input.setValue("new");

  await panel.setProps({ tool: { ...TOOL, success_count: 1 } });
  expect(panel.get<HTMLInputElement>("input").element.value).toBe("new");

  await panel.setProps({ start: { words: "from the history" } });
  expect(panel.get<HTMLInputElement>("input").element.value).toBe("from the history");
  panel.unmount();
});
