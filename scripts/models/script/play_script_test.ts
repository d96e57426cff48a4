import assert from "node:assert/strict";
import { fenceData } from "../../../shared/gateway/tool_contracts/fence_data.ts";
import { loadYaml } from "../../deps.ts";
import type { ScriptedAnswer, ScriptedMessage } from "../scripted_agent.ts";
import { playScript } from "./play_script.ts";
import { readScript } from "./read_script.ts";

const yaml = await loadYaml();

/** The answer of a script to a conversation. */
function play(script: string, ...messages: readonly ScriptedMessage[]): ScriptedAnswer {
  return playWith(["crm__find", "complete_task"], script, messages);
}

function playWith(
  toolNames: readonly string[],
  script: string,
  messages: readonly ScriptedMessage[],
): ScriptedAnswer {
  return playScript(readScript(script, "hello.script.yaml", yaml), {
    agent: "hello",
    model: "demo",
    system: "You greet.",
    messages,
    toolNames,
    toolDescriptions: new Map(),
  });
}

const user = (text: string): ScriptedMessage => ({ role: "user", text });

/** A call of the model, and its result as the platform shows it. */
function called(name: string, result: string, callId = "1"): ScriptedMessage[] {
  return [
    { role: "assistant", text: "", calls: [{ callId, name, argumentsText: "{}" }] },
    { role: "tool", callId, name, text: fenceData(result, name) },
  ];
}

Deno.test("playScript() reads the fields of an input whose text files follow it", () => {
  const input = `{"ask": "Sum up", "files": ["1/notes.md"]}\n\n${
    fenceData("# Notes", "1/notes.md")
  }`;

  const answer = play(
    '- when: { contains: "# Notes" }\n  say: "{{input.ask}}, {{message.ask}}"',
    user(input),
  );

  assert.deepEqual(answer, { text: "Sum up, Sum up", toolCalls: [] });
});

const CRM = `
- when: { result_of: crm/find, contains: '"tier"' }
  output: { tier: "{{message.tier}}", name: "{{input.name}}" }
- when: { result_of: find, matches: '^No (?<what>\\w+)' }
  say: There is no {{what}}.
- when: { matches: 'customer (\\w+)' }
  reasoning: I look for {{1}}.
  call: [{ tool: crm/find, arguments: { query: "{{1}}", deep: true, given: "{{input}}" } }]
`;

Deno.test("playScript() calls a tool with captures, text and whole values of the input", () => {
  const answer = play(CRM, user('{"name": "Ada", "ask": "customer Ada"}'));

  assert.deepEqual(answer, {
    reasoning: "I look for Ada.",
    toolCalls: [{
      name: "crm__find",
      arguments: { query: "Ada", deep: true, given: { name: "Ada", ask: "customer Ada" } },
    }],
  });
});

Deno.test("playScript() calls a tool that an agent with many tools does not see", () => {
  const messages = [user('{"name": "Ada", "ask": "customer Ada"}')];

  const answer = playWith(["complete_task", "search_tools"], CRM, messages);

  assert.deepEqual(answer.toolCalls?.map(({ name }) => name), ["crm__find"]);
  assert.throws(() => playWith(["complete_task"], CRM, messages), /crm__find/);
});

Deno.test("playScript() ends the task with a field of a tool's result", () => {
  const input = user('{"name": "Ada", "ask": "customer Ada"}');

  const answer = play(CRM, input, ...called("crm__find", '{"tier": 2}'));

  assert.deepEqual(answer.toolCalls, [{
    name: "complete_task",
    arguments: { output: { tier: 2, name: "Ada" } },
  }]);
});

Deno.test("playScript() takes the first rule that applies to the newest messages only", () => {
  const answer = play(CRM, user("customer Ada"), ...called("crm__find", "No customer\nat all"));

  assert.equal(answer.text, "There is no customer.");
});

Deno.test("playScript() does not take a tool's result for the words of the user", () => {
  assert.throws(
    () => play("- when: { contains: tea }\n  say: Yes", user("?"), ...called("crm__find", "tea")),
    /no rule of hello\.script\.yaml applies to the last message, the result of crm__find: "tea"/,
  );
});

Deno.test("playScript() applies a rule for the first answer only once, and one without when always", () => {
  const script = "- when: { first: true }\n  say: Welcome\n- say: You said {{message}}";
  const later: ScriptedMessage[] = [{ role: "assistant", text: "Welcome", calls: [] }, user("Hi")];

  assert.equal(play(script, user("Hello")).text, "Welcome");
  assert.equal(play(script, user("Hello"), ...later).text, "You said Hi");
});

Deno.test("playScript() names the file and quotes the last message when no rule applies", () => {
  assert.throws(
    () => play(CRM, user("x".repeat(1_000))),
    /no rule of hello\.script\.yaml applies to the last message, the user's: "x{160}…"\. Add a rule/,
  );
});

Deno.test("playScript() names the rule whose tool the agent does not have", () => {
  assert.throws(
    () => play("- call: [{ tool: mail/send }]", user("Hi")),
    /the rule at hello\.script\.yaml:1 cannot answer: .*mail__send.*crm__find, complete_task/,
  );
});

Deno.test("playScript() names the rule that quotes a field which the input lacks", () => {
  assert.throws(
    () => play("- say: 'About {{input.topic}}'", user('{"name": "Ada"}')),
    /the rule at hello\.script\.yaml:1 .*\{\{input\.topic\}\}: input is \{"name":"Ada"\}, without topic/,
  );
});
