import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type DOMWrapper, mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { createMemoryHistory, createRouter } from "vue-router";
import { filtersOf } from "../../queries/job_filters.ts";
import type { JobSummary } from "../../queries/jobs.ts";
import { type FakeProject, json, openFakeProject } from "../../testing/fake_project.ts";
import SelectionBar from "./SelectionBar.vue";

let project: FakeProject;
let bar: VueWrapper;

beforeEach(() => {
  project = openFakeProject(() => json(1));
});

afterEach(() => {
  bar.unmount();
  vi.unstubAllGlobals();
});

function job(id: string, status: string): JobSummary {
  return {
    id,
    status,
    agent_slug: "writer",
    input_head: "",
    metadata: {},
    priority: "normal",
    error: null,
    task_count: 1,
    open_review_count: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost_micro_usd: null,
    created_at: "2026-11-23T10:00:00Z",
    started_at: null,
    finished_at: null,
  };
}

function show(chosen: readonly JobSummary[]): void {
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: "/:path(.*)*", component: { render: () => null } }],
  });
  bar = mount(SelectionBar, {
    attachTo: document.body,
    props: {
      chosen,
      shownCount: chosen.length,
      matchCount: chosen.length,
      filters: filtersOf({}),
      counts: {},
    },
    global: { plugins: [[VueQueryPlugin, { queryClient: new QueryClient() }], router] },
  });
}

function button(name: RegExp): DOMWrapper<Element> {
  const found = bar.findAll("button").find((one) => name.test(one.text()));
  if (found === undefined) throw new Error(`There is no button ${name}`);
  return found;
}

describe("the bar of the selected jobs", () => {
  test("counts what can be cancelled and retried, and acts on these alone", async () => {
    show([job("a", "running"), job("b", "failed"), job("c", "completed"), job("d", "pending")]);
    expect(button(/^Retry 1$/).attributes("disabled")).toBeUndefined();

    await button(/^Cancel 2$/).trigger("click");

    await vi.waitFor(() => expect(project.count("/rest/v1/rpc/cancel_task")).toBe(2));
    expect(project.requests.map(({ body }) => body.p_master_task_id)).toEqual(["a", "d"]);
  });

  test("offers nothing that no selected job allows", () => {
    show([job("a", "completed")]);

    expect(button(/^Cancel 0$/).attributes("disabled")).toBeDefined();
    expect(button(/^Retry 0$/).attributes("disabled")).toBeDefined();
  });

  test("names the jobs that failed, and keeps them selected", async () => {
    project.answer = ({ body }) =>
      body.p_task_id === "b"
        ? json({ message: "Its parent has ended", details: "TASK_NOT_RETRYABLE" }, { status: 409 })
        : json("pending");
    show([job("a", "failed"), job("b", "failed")]);

    await button(/^Retry 2$/).trigger("click");

    await vi.waitFor(() => expect(bar.emitted("failed")).toEqual([[["b"]]]));
    expect(bar.get("[role=alert]").text()).toContain("TASK_NOT_RETRYABLE");
  });
});
