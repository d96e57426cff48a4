import { afterEach, expect, test, vi } from "vitest";
import { flushPromises, mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { type FakeProject, json, openFakeProject } from "../../testing/fake_project.ts";
import ConfigurationProblems from "./ConfigurationProblems.vue";

const VIEW = "/rest/v1/operator_configuration_problems";
let project: FakeProject;

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The notice after the view has answered with these rows. */
async function showWith(rows: readonly unknown[]): Promise<VueWrapper> {
  project = openFakeProject(() => json(rows));
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const notice = mount(ConfigurationProblems, {
    global: { plugins: [[VueQueryPlugin, { queryClient }]] },
  });
  await vi.waitFor(() => expect(project.count(VIEW)).toBe(1));
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await flushPromises();
  return notice;
}

test("an operator sees what will fail, in which field, and what to do", async () => {
  const notice = await showWith([{
    kind: "agent",
    name: "triager",
    field: "tools.crm",
    problem: "cannot be called by any user",
    hint: "Grant the scope.",
  }]);

  expect(notice.text().replace(/\s+/g, " ")).toContain(
    "agent triager: tools.crm cannot be called by any user. Grant the scope.",
  );
  notice.unmount();
});

test("nothing is shown while nothing is wrong", async () => {
  const notice = await showWith([]);

  expect(notice.find("[role=status]").exists()).toBe(false);
  notice.unmount();
});
