import { expect, test } from "vitest";
import { mount } from "@vue/test-utils";
import MCPResultsDisplay from "./MCPResultsDisplay.vue";
import type { ToolResult } from "./tool_result.ts";

const ROWS = [{ week: "2026-11-16", orders: 3 }, { week: "2026-11-23", orders: 5 }];

/** The tabs of a result, and the one that is shown first. */
function tabsOf(result: ToolResult, isDrawn = false) {
  const view = mount(MCPResultsDisplay, {
    props: { result, isDrawn },
    global: {
      stubs: { ResultChart: true, ResultTableView: true, JsonTree: true, LazyProse: true },
    },
  });
  const tabs = view.findAll("[role=tab]");
  const first = tabs.find((tab) => tab.attributes("aria-selected") === "true");
  return { tabs: tabs.map((tab) => tab.text()), first: first?.text() };
}

test("JSON that a tool sends as text is a table and a chart, as structured content is", () => {
  const text = { content: [{ type: "text", text: JSON.stringify({ rows: ROWS }) }] };
  const structured = { content: [], structuredContent: { rows: ROWS } };

  for (const result of [text, structured]) {
    expect(tabsOf(result)).toEqual({
      tabs: ["Table", "Chart", "Markdown", "Text", "JSON"],
      first: "Table",
    });
    expect(tabsOf(result, true).first).toBe("Chart");
  }
});

test("a result without numbers has no chart to show first", () => {
  const names = { content: [], structuredContent: [{ name: "a" }, { name: "b" }] };
  expect(tabsOf(names, true)).toMatchObject({ first: "Table" });
  expect(tabsOf(names, true).tabs).not.toContain("Chart");
});

test("text is shown as Markdown", () => {
  expect(tabsOf({ content: [{ type: "text", text: "# Done" }] }).first).toBe("Markdown");
});
