import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { createMemoryHistory, createRouter } from "vue-router";
import {
  type FakeProject,
  type FakeRequest,
  json,
  openFakeProject,
} from "../../testing/fake_project.ts";
import ForeignJob from "./ForeignJob.vue";

const JOB = "019aac3e-0b7f-7c3e-8a51-2f6e1d0b9c3f";
const AT = "2026-11-23T10:00:00Z";
const HOUR_MS = 3_600_000;

let project: FakeProject;
let page: VueWrapper;
/** When the operator's opening ends; null while the job was never opened. */
let openUntilMs: number | null;

beforeEach(async () => {
  openUntilMs = null;
  project = openFakeProject(answer);
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: "/:path(.*)*", component: { render: () => null } }],
  });
  await router.push(`/jobs/${JOB}`);
  page = mount(ForeignJob, {
    attachTo: document.body,
    props: { id: JOB },
    global: {
      plugins: [[VueQueryPlugin, {
        queryClient: new QueryClient({ defaultOptions: { queries: { retry: false } } }),
      }], router],
    },
  });
});

afterEach(() => {
  page.unmount();
  vi.unstubAllGlobals();
});

function answer({ path, method }: FakeRequest): Response {
  switch (path) {
    case "/rest/v1/rpc/operator_list_jobs":
      return json([{
        id: JOB,
        agent_slug: "writer",
        status: "failed",
        owner_email: "ada@example.test",
      }]);
    case "/rest/v1/rpc/list_operator_acts":
      if (openUntilMs === null) {
        return json({ message: "It is not open", details: "JOB_NOT_OPENED" }, { status: 403 });
      }
      return json([{
        id: 1,
        at: AT,
        // Nobody is signed in here.
        operator_id: "",
        act: "job.opened",
        open_until: new Date(openUntilMs).toISOString(),
      }]);
    case "/rest/v1/rpc/operator_open_job":
      openUntilMs = Date.now() + HOUR_MS;
      return json(new Date(openUntilMs).toISOString());
    case "/rest/v1/rpc/operator_tasks":
      return json([{
        id: JOB,
        master_task_id: JOB,
        parent_id: null,
        agent_slug: "writer",
        status: "failed",
        error: { code: "MODEL_TIMEOUT", message: "The model was too slow" },
        warnings: [],
        created_at: AT,
        started_at: AT,
        finished_at: AT,
      }]);
    default:
      return method === "HEAD" ? new Response() : json([]);
  }
}

/** The tables of an owner that were read. */
function ownersTables(): readonly string[] {
  return project.requests.map(({ path }) => path)
    .filter((path) => /\/(tasks|task_steps|task_events|job_usage)$/.test(path));
}

async function open(reason: string): Promise<void> {
  await vi.waitFor(() => expect(page.text()).toContain("Open this job"));
  await page.get("input").setValue(reason);
  await page.get("form").trigger("submit");
}

describe("another user's job", () => {
  test("shows whose it is, but none of its content, until it is opened", async () => {
    await vi.waitFor(() => expect(page.text()).toContain("ada@example.test"));
    await vi.waitFor(() => expect(page.text()).toContain("Open this job"));

    expect(project.count("/rest/v1/rpc/operator_tasks")).toBe(0);
    expect(ownersTables()).toEqual([]);
  });

  test("is not opened without a reason", async () => {
    await open("  ");

    expect(project.count("/rest/v1/rpc/operator_open_job")).toBe(0);
  });

  test("is read through the operator's functions alone, once it is open", async () => {
    await open("Its owner asked");

    await vi.waitFor(() => expect(page.text()).toContain("The model was too slow"));
    expect(page.get("[role=status]").text()).toContain("It is open to you until");
    const opening = project.requests.find(({ path }) => path.endsWith("/operator_open_job"));
    expect(opening?.body).toEqual({ p_task_id: JOB, p_reason: "Its owner asked" });
    expect(ownersTables()).toEqual([]);
    expect(page.text()).not.toContain("Run again");
  });

  test("is retried only with a reason", async () => {
    await open("Its owner asked");
    await vi.waitFor(() => expect(page.text()).toContain("The model was too slow"));

    const retry = await vi.waitFor(() => {
      const found = page.findAll("button").find((one) => one.text() === "Retry");
      if (found === undefined) throw new Error("The page has no button Retry");
      return found;
    });
    await retry.trigger("click");
    // The dialog's code is loaded when it is first shown.
    await vi.waitFor(() => expect(document.querySelector("[role=dialog]")).not.toBeNull(), 10_000);

    expect(project.count("/rest/v1/rpc/retry_task")).toBe(0);
    const submit = document.querySelector<HTMLButtonElement>("[role=dialog] button.primary");
    expect(submit?.disabled).toBe(true);
  });

  test("asks again after the hour", async () => {
    openUntilMs = Date.now() - 1;

    await vi.waitFor(() => expect(page.text()).toContain("Open this job"));

    expect(project.count("/rest/v1/rpc/operator_tasks")).toBe(0);
  });
});
