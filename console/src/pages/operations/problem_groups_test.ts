import { expect, test } from "vitest";
import type { ConfigurationProblem } from "../../queries/configuration_problems.ts";
import { groupProblems } from "./problem_groups.ts";

const problem = (parts: Partial<ConfigurationProblem>): ConfigurationProblem => ({
  kind: "agent",
  name: "writer",
  field: "provider",
  problem: "is wrong",
  hint: "Correct it.",
  acknowledged_at: null,
  acknowledged_by: null,
  reason: null,
  ...parts,
});

test("the tools of many agents that need one scope are one problem, however many users lack it", () => {
  const list = ["ada", "ben", "eve"].flatMap((name, index) =>
    ["fx", "crm"].map((tool) =>
      problem({
        name,
        field: `tools.${tool}`,
        problem: `cannot be called in jobs of users without the scope mcp:${tool} (${index} now)`,
        hint: `Grant mcp:${tool}.`,
      })
    )
  );

  expect(
    groupProblems(list).map(({ title, affected, scope, hint }) => [title, affected, scope, hint]),
  )
    .toEqual([
      ["Users lack the scope mcp:crm", "3 agents", "mcp:crm", "Grant mcp:crm."],
      ["Users lack the scope mcp:fx", "3 agents", "mcp:fx", "Grant mcp:fx."],
    ]);
});

test("what several definitions have in common is one problem, and the largest is first", () => {
  const missing = 'is "KEY", but Vault has no secret with this name';
  const groups = groupProblems([
    problem({
      kind: "policy",
      name: "openai",
      field: "spending_cap_usd",
      problem: "refuses calls",
    }),
    problem({ kind: "tool", name: "crm", field: "credential_secret_name", problem: missing }),
    problem({ kind: "provider", name: "p", field: "api_key_secret_name", problem: missing }),
  ]);

  expect(groups.map(({ title, affected }) => `${title} (${affected})`)).toEqual([
    `${missing} (1 tool, 1 provider)`,
    "policy openai: spending_cap_usd refuses calls (1 policy)",
  ]);
});
