import { afterEach, expect, test, vi } from "vitest";
import { flushPromises, mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { type FakeProject, json, openFakeProject } from "../../testing/fake_project.ts";
import RetiringModels from "./RetiringModels.vue";

const VIEW = "/rest/v1/operator_retiring_models";
let project: FakeProject;

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The notice after the view has answered with these rows. */
async function showWith(rows: readonly unknown[]): Promise<VueWrapper> {
  project = openFakeProject(() => json(rows));
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const notice = mount(RetiringModels, {
    global: { plugins: [[VueQueryPlugin, { queryClient }]] },
  });
  await vi.waitFor(() => expect(project.count(VIEW)).toBe(1));
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await flushPromises();
  return notice;
}

test("an operator sees which model retires when, and what uses it", async () => {
  const notice = await showWith([
    { provider: "acme", model: "large", retires_on: "2027-10-07", used_by: ["agent a", "tool b"] },
  ]);

  expect(notice.text()).toContain("large of acme, from 2027-10-07: agent a, tool b");
  notice.unmount();
});

test("nothing is shown while no model in use retires", async () => {
  const notice = await showWith([]);

  expect(notice.find("[role=status]").exists()).toBe(false);
  notice.unmount();
});
