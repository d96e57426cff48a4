import { afterEach, expect, test, vi } from "vitest";
import { flushPromises, mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { createMemoryHistory, createRouter } from "vue-router";
import { type FakeRequest, json, openFakeProject } from "../../testing/fake_project.ts";
import EvalRunPage from "./EvalRunPage.vue";

const OWNER = vi.hoisted(() => "00000000-0000-4000-8000-000000000001");
vi.mock("../../project/session.ts", async () => {
  const { computed } = await import("vue");
  return { userId: computed(() => OWNER), isSignedIn: computed(() => true) };
});

const RUNS = ["new", "old"].map((id, index) => ({
  id,
  created_by: OWNER,
  agent_slug: "writer",
  agent_revision: 2 - index,
  provider: "demo",
  model: "small",
  agent_changes: index === 0 ? { provider: "demo", model: "small", fallbacks: [] } : null,
  answered_by: [index === 0 ? "small of demo" : "demo of demo"],
  result_count: 2,
  passed_count: index + 1,
  created_at: "2026-11-27T08:00:00Z",
  finished_at: "2026-11-27T08:01:00Z",
}));

function resultsOf(runId: string) {
  return [1, 2].map((repeat) => ({
    test: "keeps its promise",
    repeat,
    task_id: `${runId}-${repeat}`,
    passed: runId === "old" || repeat === 1,
    assertions: [{ type: "equals", reason: "the output is 2" }],
    error: null,
    cost_micro_usd: 5,
    latency_ms: 10,
  }));
}

afterEach(() => {
  vi.unstubAllGlobals();
});

function answer(isOperator: boolean, owner: string) {
  return ({ path, query, body }: FakeRequest): Response => {
    const valueOf = (column: string) => query.get(column)?.replace("eq.", "") ?? "";
    const [runs, results] = isOperator
      ? ["operator_eval_runs", "rpc/operator_eval_results"]
      : ["eval_runs", "eval_results"];
    switch (path) {
      case "/rest/v1/mcp_grants":
        return json(isOperator ? [{ scopes: ["swarm:operate"] }] : []);
      case `/rest/v1/${runs}`:
        return json(
          RUNS.filter(({ id }) => !query.has("id") || id === valueOf("id"))
            .map((run) => ({ ...run, created_by: owner })),
        );
      case `/rest/v1/${results}`:
        return json(resultsOf(isOperator ? String(body["p_run_id"]) : valueOf("run_id")));
      default:
        return json([]);
    }
  };
}

async function show(address: string, respond: (request: FakeRequest) => Response) {
  openFakeProject(respond);
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: "/:path(.*)*", component: { template: "" } }],
  });
  await router.push(address);
  const page = mount(EvalRunPage, {
    props: { id: "new" },
    global: { plugins: [[VueQueryPlugin, { queryClient }], router] },
  });
  await vi.waitFor(() => expect(page.text()).toContain("keeps its promise"));
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await flushPromises();
  return page;
}

function links(page: VueWrapper): (string | undefined)[] {
  return page.findAll("td a").map((link) => link.attributes("href"));
}

test("each job of an own run is a link, and a failed one says why", async () => {
  const page = await show("/evals/new", answer(false, OWNER));

  expect(links(page)).toEqual(["/jobs/new-1", "/jobs/new-2"]);
  expect(page.text()).toContain("Job 2 failed");
  expect(page.text()).toContain("2: equals: the output is 2");
  expect(page.text()).toContain("1 of 2, 9% to 91%");
  expect(page.findAll("select option").map((option) => option.attributes("value")))
    .toEqual(["", "old"]);
  page.unmount();
});

test("two runs are side by side", async () => {
  const page = await show("/evals/new?against=old", answer(false, OWNER));

  await vi.waitFor(() => expect(links(page)).toContain("/jobs/old-1"));
  expect(links(page)).toEqual(["/jobs/old-1", "/jobs/old-2", "/jobs/new-1", "/jobs/new-2"]);
  expect(page.text()).toContain("undecided: needs");
  expect(page.text()).toContain("small of demo; not the agent's");
  expect(page.find("select").text()).toContain("small of demo; answered by demo of demo");
  page.unmount();
});

test("an operator reads the runs of others, whose jobs only their owner opens", async () => {
  const page = await show("/evals/new", answer(true, "somebody else"));

  expect(links(page)).toEqual([]);
  expect(page.text()).toContain("Job 1 passed");
  page.unmount();
});
