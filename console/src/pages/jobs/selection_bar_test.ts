import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type DOMWrapper, mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { createMemoryHistory, createRouter } from "vue-router";
import { filtersOf, type Whose } from "../../queries/job_filters.ts";
import type { JobStatus } from "../../../../client/mod.ts";
import { type JobSummary } from "../../queries/jobs.ts";
import {
  type Answer,
  type FakeProject,
  json,
  openFakeProject,
} from "../../testing/fake_project.ts";
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

function job(id: string, status: JobStatus): JobSummary {
  return {
    id,
    status,
    agent_slug: "writer",
    input_head: "",
    metadata: {},
    priority: "normal",
    budget: null,
    error: null,
    task_count: 1,
    open_review_count: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost_micro_usd: null,
    run_after: null,
    cancel_requested_at: null,
    created_at: "2026-11-23T10:00:00Z",
    started_at: null,
    finished_at: null,
  };
}

function show(
  chosen: readonly JobSummary[],
  more: {
    readonly whose?: Whose;
    readonly matchCount?: number;
    readonly counts?: Readonly<Record<string, number>>;
  } = {},
): void {
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: "/:path(.*)*", component: { render: () => null } }],
  });
  bar = mount(SelectionBar, {
    attachTo: document.body,
    props: {
      whose: "own",
      chosen,
      shownCount: chosen.length,
      matchCount: chosen.length,
      filters: filtersOf({}),
      counts: {},
      ...more,
    },
    global: { plugins: [[VueQueryPlugin, { queryClient: new QueryClient() }], router] },
  });
}

function button(name: RegExp): DOMWrapper<Element> {
  const found = bar.findAll("button").find((one) => name.test(one.text()));
  if (found === undefined) throw new Error(`There is no button ${name}`);
  return found;
}

function dialog(): Element | null {
  return document.querySelector("[role=dialog]");
}

function inDialog(name: string): HTMLButtonElement {
  const found = [...dialog()?.querySelectorAll("button") ?? []]
    .find((one) => one.textContent?.trim() === name);
  if (found === undefined) throw new Error(`The dialog has no button ${name}`);
  return found;
}

/** Lists three running jobs; every action succeeds. */
const matchingJobs: Answer = ({ path, body }) => {
  if (!path.endsWith("/list_jobs")) return json(1);
  return json(body.p_before ? [] : ["a", "b", "c"].map((id) => job(id, "running")));
};

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

  test("asks before it cancels jobs on other pages, and cancels none if the user goes back", async () => {
    project.answer = matchingJobs;
    show([job("a", "running")], { matchCount: 3, counts: { running: 3 } });
    await button(/^Select all 3 that match$/).trigger("click");

    await button(/^Cancel 3$/).trigger("click");
    await vi.waitFor(() => expect(dialog()?.textContent ?? "").toContain("Cancel 3 jobs?"));
    inDialog("Back").click();

    await vi.waitFor(() => expect(dialog()).toBeNull());
    expect(project.requests).toEqual([]);
  });

  test("cancels all jobs that match after the confirmation", async () => {
    project.answer = matchingJobs;
    show([job("a", "running")], { matchCount: 3, counts: { running: 3 } });
    await button(/^Select all 3 that match$/).trigger("click");
    await button(/^Cancel 3$/).trigger("click");
    await vi.waitFor(() => expect(dialog()).not.toBeNull());

    inDialog("Cancel the jobs").click();

    await vi.waitFor(() => expect(bar.emitted("failed")).toEqual([[[]]]));
    const cancelled = project.requests.filter(({ path }) => path.endsWith("/cancel_task"));
    expect(cancelled.map(({ body }) => body.p_master_task_id)).toEqual(["a", "b", "c"]);
  });

  test("reads more jobs than one answer has page by page", async () => {
    const pages = [["a", "b"], ["c"], []];
    project.answer = ({ path }) =>
      path.endsWith("/list_jobs")
        ? json((pages.shift() ?? []).map((id) => job(id, "failed")))
        : json("pending");
    show([job("a", "failed")], { matchCount: 3, counts: { failed: 3 } });
    await button(/^Select all 3 that match$/).trigger("click");
    await button(/^Retry 3$/).trigger("click");
    await vi.waitFor(() => expect(dialog()?.textContent ?? "").toContain("Retry 3 jobs?"));

    inDialog("Retry the jobs").click();

    await vi.waitFor(() => expect(bar.emitted("failed")).toEqual([[[]]]));
    const bodies = (path: string) =>
      project.requests.filter((one) => one.path.endsWith(path)).map(({ body }) => body);
    expect(bodies("/retry_task").map(({ p_task_id: id }) => id)).toEqual(["a", "b", "c"]);
    const cursors = bodies("/list_jobs").map(({ p_before: cursor }) =>
      (cursor as { id: string } | undefined)?.id
    );
    expect(cursors).toEqual([undefined, "b", "c"]);
  });

  test("cancels jobs of other users only with a reason", async () => {
    show([job("a", "running")], { whose: "all" });
    await button(/^Cancel 1$/).trigger("click");
    await vi.waitFor(() => expect(dialog()).not.toBeNull());
    expect(inDialog("Cancel the jobs").disabled).toBe(true);
    const input = dialog()?.querySelector("input");
    if (input) input.value = "It runs wild";
    input?.dispatchEvent(new Event("input"));
    await vi.waitFor(() => expect(inDialog("Cancel the jobs").disabled).toBe(false));

    inDialog("Cancel the jobs").click();

    await vi.waitFor(() => expect(bar.emitted("failed")).toEqual([[[]]]));
    expect(project.requests.map(({ path, body }) => ({ path, body }))).toEqual([{
      path: "/rest/v1/rpc/operator_cancel_job",
      body: { p_master_task_id: "a", p_reason: "It runs wild" },
    }]);
  });
});
