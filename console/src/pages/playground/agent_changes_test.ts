import { expect, test } from "vitest";
import { agentChanges, untriedChanges, withChanges } from "./agent_changes.ts";

const AGENT = {
  display_name: "Writer",
  prompt: "Write.",
  provider: "demo",
  model: "small",
  temperature: 0.7,
  tools: [{ tool: "sql", allowed_tools: ["list_tables"] }],
  fallbacks: [{ provider: "other" }],
};

test("agentChanges() has only what differs, and a provider with each other model", () => {
  expect(agentChanges(AGENT, AGENT)).toBeNull();
  expect(agentChanges(AGENT, { ...AGENT, prompt: "Write well." })).toEqual({
    prompt: "Write well.",
  });
  expect(agentChanges(AGENT, { ...AGENT, model: "large" })).toEqual({
    provider: "demo",
    model: "large",
  });
});

test("agentChanges() says so when a part is removed", () => {
  const { temperature: _temperature, tools: _tools, model: _model, ...rest } = AGENT;

  expect(agentChanges(AGENT, rest)).toEqual({ provider: "demo", temperature: null, tools: [] });
});

test("untriedChanges() names the changes that a job cannot have", () => {
  expect(untriedChanges(AGENT, { ...AGENT, prompt: "Other", max_tokens: 10 })).toEqual([
    "max_tokens",
  ]);
});

test("withChanges() is the agent as the try ran, with its fallbacks", () => {
  const { temperature: _temperature, ...rest } = AGENT;

  expect(withChanges(AGENT, { model: "large", temperature: null, fallbacks: [] })).toEqual({
    ...rest,
    model: "large",
  });
});
