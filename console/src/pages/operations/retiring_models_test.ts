import { afterEach, expect, test, vi } from "vitest";
import { mountAnswered } from "../../testing/mount_answered.ts";
import RetiringModels from "./RetiringModels.vue";

afterEach(() => {
  vi.unstubAllGlobals();
});

const showWith = (rows: readonly unknown[]) =>
  mountAnswered(RetiringModels, { path: "/rest/v1/operator_retiring_models", rows });

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
