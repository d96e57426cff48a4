import { afterEach, expect, test, vi } from "vitest";
import { flushPromises, mount } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { json, openFakeProject } from "../../testing/fake_project.ts";
import ChecksPanel from "./ChecksPanel.vue";

const HOLDS = { claim: "Cron runs on time", problem: null, remedy: "Restart the project." };
const FAILED = {
  claim: "Its extensions are installed",
  problem: "pg_net is missing",
  remedy: "Enable them in the dashboard.",
};

afterEach(() => {
  vi.unstubAllGlobals();
});

test("an operator sees the release, each check, and what to do about one that failed", async () => {
  openFakeProject(({ path }) =>
    json(
      path === "/rest/v1/operator_releases"
        ? [{ version: "0.1.0", installed_at: "2026-11-27T09:00:00Z" }]
        : [FAILED, HOLDS],
    )
  );
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const panel = mount(ChecksPanel, { global: { plugins: [[VueQueryPlugin, { queryClient }]] } });
  await vi.waitFor(() => expect(panel.findAll("tbody tr")).toHaveLength(2));
  await flushPromises();

  const [failed, holds] = panel.findAll("tbody tr").map((row) => row.text());
  expect(panel.text()).toContain("Release 0.1.0");
  expect(failed).toMatch(/Failed.*pg_net is missing.*Enable them in the dashboard\./s);
  expect(holds).toMatch(/Passed.*Cron runs on time/s);
  expect(holds).not.toContain("Restart the project.");
  panel.unmount();
});
