import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { createMemoryHistory, createRouter } from "vue-router";
import type { FailureGroup } from "../../queries/operations.ts";
import { type FakeProject, json, openFakeProject } from "../../testing/fake_project.ts";
import FailurePanel from "./FailurePanel.vue";
import { trendOf } from "./failure_trend.ts";
import { lastDays } from "./last_days.ts";

let project: FakeProject;
let panel: VueWrapper;
let groups: readonly FailureGroup[];

beforeEach(() => {
  groups = [];
  project = openFakeProject(({ path, body }) => {
    if (path.endsWith("/operator_failure_groups")) return json(groups);
    if (!path.endsWith("/operator_list_jobs")) return json("pending");
    return json(body.p_before ? [] : [{ id: "a" }, { id: "b" }]);
  });
});

afterEach(() => {
  panel.unmount();
  vi.unstubAllGlobals();
});

function group(change: Partial<FailureGroup> = {}): FailureGroup {
  const today = new Date().toISOString();
  return {
    agent_slug: "writer",
    error_code: "MODEL_TIMEOUT",
    cause: "No answer for # s",
    job_count: 2,
    last_failed_at: today,
    days: { [today.slice(0, 10)]: 2 },
    ...change,
  };
}

async function show(given: readonly FailureGroup[]): Promise<void> {
  groups = given;
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: "/:path(.*)*", component: { render: () => null } }],
  });
  await router.push("/operations?view=failures");
  panel = mount(FailurePanel, {
    attachTo: document.body,
    global: { plugins: [[VueQueryPlugin, { queryClient: new QueryClient() }], router] },
  });
  await vi.waitFor(() => expect(panel.find("tbody tr").exists()).toBe(true));
}

describe("the groups of failures", () => {
  test("lead to the list of their jobs", async () => {
    await show([group()]);

    const address = new URL(panel.get("tbody a").attributes("href") ?? "", "http://console.test");

    expect(Object.fromEntries(address.searchParams)).toEqual({
      view: "jobs",
      status: "failed",
      agent: "writer",
      errorCode: "MODEL_TIMEOUT",
      cause: "No answer for # s",
      from: lastDays(Date.now(), 14)[0],
    });
  });

  test("are redriven with one reason for all jobs", async () => {
    await show([group()]);
    await panel.get("tbody button").trigger("click");
    const input = await vi.waitFor(() => {
      const found = document.querySelector<HTMLInputElement>("[role=dialog] input");
      if (found === null) throw new Error("The dialog has no field");
      return found;
    });
    input.value = "The model is back";
    input.dispatchEvent(new Event("input"));

    document.querySelector("[role=dialog] form")?.dispatchEvent(new Event("submit"));

    await vi.waitFor(() => expect(project.count("/rest/v1/rpc/operator_retry_task")).toBe(2));
    const retries = project.requests.filter(({ path }) => path.endsWith("/operator_retry_task"));
    expect(retries.map(({ body }) => body)).toEqual([
      { p_task_id: "a", p_reason: "The model is back" },
      { p_task_id: "b", p_reason: "The model is back" },
    ]);
  });

  test("are not redriven if no filter finds exactly their jobs", async () => {
    await show([group({ error_code: null }), group({ agent_slug: null }), group({ cause: null })]);

    expect(panel.findAll("tbody button")).toEqual([]);
    expect(panel.findAll("tbody a")).toEqual([]);
  });

  test.each([
    [{ "2026-11-03": 1 }, "new"],
    [{ "2026-11-01": 1 }, "none for 2 days"],
    [{ "2026-11-01": 1, "2026-11-04": 3 }, "+2 in 2 days"],
    [{ "2026-11-02": 4, "2026-11-04": 3 }, "−1 in 2 days"],
    [{ "2026-11-02": 3, "2026-11-04": 3 }, "unchanged"],
  ])("have a trend: %o is %s", (counts, text) => {
    const days = ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"];
    expect(trendOf(days, counts).text).toBe(text);
  });

  test("have a bar for each of the last days, until today", () => {
    expect(lastDays(Date.parse("2026-03-02T00:30:00Z"), 3)).toEqual([
      "2026-02-28",
      "2026-03-01",
      "2026-03-02",
    ]);
  });
});
