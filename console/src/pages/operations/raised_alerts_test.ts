import { afterEach, expect, test, vi } from "vitest";
import { flushPromises, mount, RouterLinkStub, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { type FakeProject, json, openFakeProject } from "../../testing/fake_project.ts";
import RaisedAlerts from "./RaisedAlerts.vue";

const VIEW = "/rest/v1/operator_alerts";
let project: FakeProject;

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The notice after the view has answered with these rows. */
async function showWith(rows: readonly unknown[]): Promise<VueWrapper> {
  project = openFakeProject(() => json(rows));
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const notice = mount(RaisedAlerts, {
    global: {
      plugins: [[VueQueryPlugin, { queryClient }]],
      stubs: { RouterLink: RouterLinkStub },
    },
  });
  await vi.waitFor(() => expect(project.count(VIEW)).toBe(1));
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await flushPromises();
  return notice;
}

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
