import type { AgentToolset } from "../../shared/gateway/tool_contracts/agent_tool.ts";
import { toolNamed } from "../../shared/engine/agent/agent_states.ts";
import { textBlock } from "../../shared/platform/values/content_block.ts";
import type { ErrorCode } from "../../shared/platform/errors/codes.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type {
  ToolCallOutcome,
  ToolCallRequest,
} from "../../shared/gateway/tool_contracts/tool_call.ts";
import type { TaskPorts } from "../../shared/engine/worker/task_ports.ts";
import { crossPort } from "./cross_port.ts";
import { waitFor } from "./wait_for.ts";
import type { DisturbedProcess, WorldPorts } from "./world_ports.ts";

const FAULTS = [
  "is out of calls",
  "fails",
  "gives no answer",
  "is not reached",
  "is slow",
] as const;

/** A tool that only reads, one whose effect must not be repeated, and one that may be repeated. */
export const TOOLSET: AgentToolset = {
  tools: [
    toolNamed("look", { isReadOnly: true }),
    toolNamed("pay"),
    toolNamed("put", { isIdempotent: true }),
  ],
  unavailable: [],
};

/** The gateway of a process: every call is one that a tool really gets. */
export function createSimulatedGateway(
  process: DisturbedProcess,
  world: WorldPorts,
): TaskPorts["gateway"] {
  return {
    listAgentTools: () => Promise.resolve(TOOLSET),
    call: (request, signal) => callTool(process, request, signal, world),
    relay: () => Promise.reject(new TypeError("no agent of the world relays requests")),
  };
}

async function callTool(
  process: DisturbedProcess,
  { toolName, idempotencyKey }: ToolCallRequest,
  signal: AbortSignal,
  world: WorldPorts,
): Promise<ToolCallOutcome> {
  const { scheduler, journal, trace, disturbances } = world;
  if (!crossPort(process, toolName, world)) return await new Promise<never>(() => {});
  const { dice } = process;
  const fault = disturbances.pick(dice, world.shares().tool, `tool ${toolName}`, FAULTS);
  const requestMs = dice.int(0, 200);
  const answerMs = fault === "is slow" ? dice.int(10_000, 60_000) : dice.int(10, 2_000);
  const retryAfterSeconds = dice.int(1, 40);
  const trail = { executionId: crypto.randomUUID(), feedbackToken: "token" };
  const failed = (errorCode: ErrorCode): ToolCallOutcome => ({
    kind: "answered",
    text: "failed",
    content: [textBlock("failed")],
    isError: true,
    errorCode,
    status: 502,
    ...trail,
  });
  if (fault !== null) trace?.add(`tool ${toolName}`, fault);
  if (fault === "is out of calls") {
    throw new SwarmError("TOOL_RATE_LIMITED", "too many calls", { retryAfterSeconds });
  }
  if (fault === "is not reached") return failed("TOOL_UNAVAILABLE");
  await waitFor(requestMs, process, signal, scheduler);
  journal.run(idempotencyKey);
  trace?.add(`tool ${toolName}`, `runs for ${idempotencyKey}`);
  await waitFor(answerMs, process, signal, scheduler);
  if (fault === "fails") return failed("TOOL_FAILED");
  if (fault === "gives no answer") {
    return {
      kind: "unknown",
      message: "no answer",
      errorCode: "TOOL_OUTCOME_UNKNOWN",
      hint: "Ask a person.",
      ...trail,
    };
  }
  return {
    kind: "answered",
    text: "fine",
    content: [textBlock("fine")],
    isError: false,
    status: 200,
    ...trail,
  };
}
