import { afterEach, expect, test, vi } from "vitest";
import { RouterLinkStub } from "@vue/test-utils";
import { mountAnswered } from "../../testing/mount_answered.ts";
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

test("nothing is shown while no alert is raised", async () => {
  const notice = await showWith([{ ...FAILING, raised_at: null }]);

  expect(notice.find("[role=status]").exists()).toBe(false);
  notice.unmount();
});
