import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { ModelCallResult } from "../../shared/models/llm/call_model.ts";
import type { TaskModelCall } from "../../shared/engine/worker/task_ports.ts";
import { crossPort } from "./cross_port.ts";
import type { Dice } from "./dice.ts";
import { waitFor } from "./wait_for.ts";
import type { DisturbedProcess, WorldPorts } from "./world_ports.ts";

const FAULTS = [
  "is overloaded",
  "is down",
  "times out",
  "answers nonsense",
  "breaks off",
  "is slow",
  "is cut at its limit",
] as const;
const MAX_DEPTH = 2;
/** No job goes on forever, and a small world shows as much as a large one. */
const MAX_CALLS = 20;

interface ScriptedCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Answers a task's model call by the task's place in its job and the turn. */
export async function callSimulatedModel(
  process: DisturbedProcess,
  call: TaskModelCall,
  world: WorldPorts,
): Promise<ModelCallResult> {
  const { journal, disturbances, trace, scheduler } = world;
  if (!crossPort(process, "the model", world)) return await new Promise<never>(() => {});
  const { dice } = process;
  const { task } = call.context;
  const place = String(task.input);
  const fault = disturbances.pick(dice, world.shares().model, `the model of ${place}`, FAULTS);
  const firstMs = dice.int(100, 1_500);
  const answerMs = dice.chance(0.3) ? dice.int(1, 50) : dice.int(200, 6_000);
  const slowMs = dice.int(20_000, 200_000);
  const retryAfterSeconds = dice.int(1, 20);
  const wait = (durationMs: number) => waitFor(durationMs, process, call.signal, scheduler);
  if (fault !== null) trace?.add("model", `${fault} for ${place}`);
  if (call.stream) {
    await wait(firstMs);
    call.onDelta("Thinking about it. ");
  }
  await wait(fault === "is slow" ? slowMs : answerMs);
  switch (fault) {
    case "is overloaded":
      throw new SwarmError("MODEL_RATE_LIMITED", "too many requests", { retryAfterSeconds });
    case "is down":
      throw new SwarmError("MODEL_UNAVAILABLE", "down");
    case "times out":
      throw new SwarmError("MODEL_TIMEOUT", "no answer");
    case "answers nonsense":
      throw new SwarmError("MODEL_OUTPUT_INVALID", "not JSON");
    case "breaks off":
      if (call.stream) call.onDelta("half an ans");
      throw new SwarmError("MODEL_UNAVAILABLE", "cut off");
  }
  const turn = call.prompt.messages.filter(({ role }) => role === "assistant").length;
  const text = journal.answer(task.id);
  const calls = planTurn(place, turn, world);
  const does = calls.map(({ name }) => name).join(", ") || "a plain answer";
  trace?.add("model", `answers ${place}, turn ${turn + 1}: ${does}`);
  return {
    answer: {
      text,
      tool_calls: calls.map((each, index) => ({ call_id: `call_${turn}_${index}`, ...each })),
      finish_reason: fault === "is cut at its limit"
        ? "length"
        : calls.length > 0
        ? "tool_calls"
        : "stop",
    },
    usage: {
      provider_id: null,
      model: "script-1",
      input_tokens: 10,
      cached_input_tokens: 0,
      output_tokens: 5,
      key_source: "none",
    },
  };
}

/** What the model asks for: the same for the same place and turn, however often it is asked. */
function planTurn(place: string, turn: number, world: WorldPorts): ScriptedCall[] {
  const { journal, disturbances } = world;
  const dice = world.dice(`model of ${place}, turn ${turn}`);
  const end = dice.chance(0.85) ? [callOf("complete_task", { output: { place } })] : [];
  const isLast = dice.chance([0.15, 0.6, 0.85][turn] ?? 1);
  if (isLast || journal.modelCalls > MAX_CALLS) return end;
  const plan = dice.pick(PLANS)(dice, place);
  const kinds = [...new Set(plan.map(({ name }) => name))].join(" and ");
  return disturbances.happens(`${place}, turn ${turn + 1}: ${kinds}`) ? plan : end;
}

function callOf(name: string, args: JsonObject = {}): ScriptedCall {
  return { name, arguments: args };
}

type Plan = (dice: Dice, place: string) => ScriptedCall[];

const tools: Plan = (dice) =>
  Array.from(
    { length: dice.int(1, 3) },
    () => callOf(dice.pick(["look", "pay", "put"]), { n: dice.int(1, 9) }),
  );
const subtasks: Plan = (dice, place) => {
  // "job1.2.1" is two levels below its master.
  if (place.split(".").length > MAX_DEPTH) return tools(dice, place);
  return Array.from(
    { length: dice.int(1, 3) },
    (_, index) => callOf("create_subtask", { agent: "sim-reader", input: `${place}.${index + 1}` }),
  );
};
const PLANS: readonly Plan[] = [
  tools,
  tools,
  subtasks,
  subtasks,
  (dice, place) => [...tools(dice, place), ...subtasks(dice, place)],
  () => [callOf("request_human_review", { question: "May I?" })],
  (dice, place) => [
    callOf("save_intermediate_data", { key: "found", value: dice.int(1, 9) }),
    ...tools(dice, place),
  ],
  () => [callOf("no_such_tool")],
  (dice, place) => [
    callOf("create_subtask", { agent: "nobody", input: "x" }),
    ...subtasks(dice, place),
  ],
];
