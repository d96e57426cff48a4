import { afterEach, expect, test, vi } from "vitest";
import { h } from "vue";
import { mountAnswered } from "../../testing/mount_answered.ts";
import ConfigurationProblems from "./ConfigurationProblems.vue";
import NoticeBar from "./NoticeBar.vue";

afterEach(() => {
  vi.unstubAllGlobals();
});

const PATH = "/rest/v1/operator_configuration_problems";
const ROW = {
  kind: "agent",
  name: "triager",
  field: "tools.crm",
  problem: "cannot be called by any user",
  hint: "Grant the scope.",
  acknowledged_at: null,
  acknowledged_by: null,
  reason: null,
};
const KNOWN = {
  ...ROW,
  field: "provider",
  problem: "is old",
  acknowledged_at: "2026-11-27T10:00:00Z",
  acknowledged_by: "olga@example.test",
  reason: "Until Monday",
};
const textOf = (wrapper: { text(): string }) => wrapper.text().replace(/\s+/g, " ");

test("a problem names its cause, what it affects, the field, and what to do", async () => {
  const list = await mountAnswered(ConfigurationProblems, { path: PATH, rows: [ROW] });

  const parts = list.get("summary").findAll("span").map((one) => one.text());
  expect(parts).toEqual(["Users lack the scope mcp:crm", "1 agent"]);
  expect(list.get("details").attributes("open")).toBeUndefined();
  expect(textOf(list)).toContain("agent triager: tools.crm cannot be called by any user.");
  expect(textOf(list)).toContain("Grant the scope.");
  list.unmount();
});

test("an acknowledged problem stands apart, with who acknowledged it and why", async () => {
  const list = await mountAnswered(ConfigurationProblems, { path: PATH, rows: [ROW, KNOWN] });

  const sections = list.findAll("section").map((
    one,
  ) => [one.attributes("aria-label"), textOf(one)]);
  expect(sections.map(([label]) => label)).toEqual(["Open", "Acknowledged"]);
  expect(sections[1]?.[1]).toContain("olga@example.test acknowledged it");
  expect(sections[1]?.[1]).toContain("Until Monday");
  expect(sections[1]?.[1]).toContain("Open again");
  list.unmount();
});

test("the line counts open problems by cause, and opens their list", async () => {
  const bar = await mountAnswered(
    { render: () => h(NoticeBar, { isOfSetup: true }) },
    { path: PATH, rows: [ROW, { ...ROW, name: "writer" }, KNOWN] },
  );

  expect(bar.get("button").text()).toBe("1 problem");
  expect(bar.find("details").exists()).toBe(false);
  await bar.get("button").trigger("click");
  expect(bar.findAll("details")).toHaveLength(2);
  bar.unmount();
});

test("the line stands there while nothing is wrong", async () => {
  const bar = await mountAnswered(
    { render: () => h(NoticeBar, { isOfSetup: true }) },
    { path: PATH, rows: [] },
  );

  expect(bar.get("[role=status]").text()).toBe("No problems");
  expect(bar.get("button").attributes("disabled")).toBeDefined();
  bar.unmount();
});
