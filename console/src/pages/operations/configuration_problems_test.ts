import { afterEach, expect, test, vi } from "vitest";
import { mountAnswered } from "../../testing/mount_answered.ts";
import ConfigurationProblems from "./ConfigurationProblems.vue";

afterEach(() => {
  vi.unstubAllGlobals();
});

const showWith = (rows: readonly unknown[]) =>
  mountAnswered(ConfigurationProblems, { path: "/rest/v1/operator_configuration_problems", rows });

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
