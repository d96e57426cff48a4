import { afterEach, expect, test, vi } from "vitest";
import { mount } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { json, openFakeProject } from "../../testing/fake_project.ts";
import ActPanel from "./ActPanel.vue";

const ACT = {
  at: "2026-11-27T09:00:00Z",
  operator_email: "ada@example.com",
  owner_email: null,
  master_task_id: null,
  tool_slug: null,
  tool_name: null,
  reason: null,
};

afterEach(() => {
  vi.unstubAllGlobals();
});

test("acts say what was done, which definition it concerned, and whose job", async () => {
  openFakeProject(() =>
    json([
      { ...ACT, id: 4, act: "job.opened", master_task_id: "019aac3e", details: {} },
      { ...ACT, id: 3, act: "agent.rolled_back", details: { kind: "agent", slug: "writer" } },
      { ...ACT, id: 2, act: "definition.removed", details: { kind: "skill", slug: "reports" } },
      { ...ACT, id: 1, act: "definition.saved", details: { kind: "tool", slug: "crm" } },
    ])
  );
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const panel = mount(ActPanel, {
    global: { plugins: [[VueQueryPlugin, { queryClient }]], stubs: { RouterLink: true } },
  });
  await vi.waitFor(() => expect(panel.findAll("tbody tr")).toHaveLength(4));

  const [ofService, ...rows] = panel.findAll("tbody tr").map((row) =>
    row.text().replace(/\s+/g, " ")
  );
  expect(ofService).toContain("service");
  expect(ofService).not.toContain("everybody");
  expect(rows[0]).toContain("rolled back the agent writer");
  expect(rows[1]).toContain("removed the skill reports");
  expect(rows[2]).toContain("saved the tool crm");
  panel.unmount();
});
