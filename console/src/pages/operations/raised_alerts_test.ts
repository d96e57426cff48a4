import { afterEach, expect, test, vi } from "vitest";
import { RouterLinkStub } from "@vue/test-utils";
import { mountAnswered } from "../../testing/mount_answered.ts";
import NoticeBar from "./NoticeBar.vue";
import RaisedAlerts from "./RaisedAlerts.vue";

afterEach(() => {
  vi.unstubAllGlobals();
});

const showWith = (rows: readonly unknown[]) =>
  mountAnswered(RaisedAlerts, { path: "/rest/v1/operator_alerts", rows });

const FAILING = {
  name: "Writer fails",
  measure: "failure_rate",
  above: 0.2,
  agent: "writer",
  value: 0.45,
  raised_at: "2026-11-27T10:00:00Z",
  below_since: null,
  cleared_at: null,
};

test("a raised alert shows its measure, value, limit and time, and links to what explains it", async () => {
  const notice = await showWith([FAILING, { ...FAILING, name: "Calm", raised_at: null }]);

  expect(notice.text()).toContain("Writer fails: Failure rate 45%, above 20%, since");
  expect(notice.find("time").attributes("datetime")).toBe(FAILING.raised_at);
  expect(notice.findComponent(RouterLinkStub).props("to")).toEqual({
    path: "/operations",
    query: { view: "jobs", status: "failed", agent: "writer" },
  });
  expect(notice.text()).not.toContain("Calm");
  notice.unmount();
});

test("a raised alert that recovers says so, and not that it is above its limit", async () => {
  const below = { ...FAILING, value: 0.1, below_since: "2026-11-27T10:30:00Z" };
  const notice = await showWith([below]);

  expect(notice.text()).toContain("Writer fails: Failure rate 10%, recovers: not above 20% since");
  expect(notice.find("time").attributes("datetime")).toBe(below.below_since);
  expect(notice.text()).not.toContain(", above");
  notice.unmount();
});

test("an alert that was cleared says so for a day", async () => {
  const clearedAgo = (hours: number) => ({
    ...FAILING,
    name: `cleared ${hours} h ago`,
    value: 0.1,
    raised_at: null,
    cleared_at: new Date(Date.now() - hours * 3_600_000).toISOString(),
  });
  const notice = await showWith([clearedAgo(2), clearedAgo(25)]);

  expect(notice.text()).not.toContain("Alerts are raised");
  expect(notice.text()).toContain("cleared 2 h ago: Failure rate 10%, not above 20%, cleared");
  expect(notice.text()).not.toContain("cleared 25 h ago");
  notice.unmount();
});

test("nothing is shown while no alert is raised", async () => {
  const notice = await showWith([{ ...FAILING, raised_at: null }]);

  expect(notice.find("[role=status]").exists()).toBe(false);
  notice.unmount();
});

test("the line on top names the alerts that recover and have recovered", async () => {
  const rows = [
    FAILING,
    { ...FAILING, name: "Tasks wait", below_since: "2026-11-27T10:30:00Z" },
    { ...FAILING, name: "Cost", raised_at: null, cleared_at: new Date().toISOString() },
  ];
  const path = "/rest/v1/operator_alerts";
  const bar = await mountAnswered(NoticeBar, { path, rows });
  expect(bar.get("button").text()).toBe(
    "2 alerts: Writer fails, Tasks wait recovers, Cost recovered",
  );
  bar.unmount();

  const calm = await mountAnswered(NoticeBar, { path, rows: rows.slice(2) });
  expect(calm.get("button").text()).toBe("No alerts: Cost recovered");
  await calm.get("button").trigger("click");
  expect(calm.text()).toContain("Alerts recovered in the last 24 hours.");
  calm.unmount();
});
