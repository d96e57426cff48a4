import type { AgentState } from "./agent_state.ts";
import type { CallStep, ModelStep, Review, Step, TaskContext } from "./task_context.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import type { FileFacts } from "../../models/llm/file_tokens.ts";
import type { ModelToolCall, ProviderTool } from "../../models/llm/model_port.ts";
import type { ApprovalQuestion } from "../../gateway/tool_contracts/approval.ts";
import { TOOL_SEARCH_BYTES } from "./offer_tools.ts";
import type { AgentTool } from "../../gateway/tool_contracts/agent_tool.ts";

/** Properties in which a test's state differs from the default one. */
export interface StateParts {
  readonly input?: JsonValue;
  readonly steps?: readonly Step[];
  readonly reviews?: readonly Review[];
  readonly tools?: readonly AgentTool[];
  readonly toolSearchBytes?: number;
  readonly skills?: TaskContext["skills"];
  readonly outputSchema?: JsonObject;
  readonly mustComplete?: boolean;
  readonly maxTurns?: number;
  readonly maxContinuations?: number;
  readonly maxTokens?: number;
  readonly windowTokens?: number;
  readonly modelMaxTokens?: number;
  readonly fileFacts?: Readonly<Record<string, FileFacts>>;
  readonly guardrails?: TaskContext["guardrails"];
  readonly untried?: readonly number[];
  readonly asked?: Readonly<Record<number, ApprovalQuestion>>;
  readonly spawned?: readonly number[];
  readonly providerTools?: readonly ProviderTool[];
  readonly providerRules?: TaskContext["provider_rules"];
}

/** The state of a task of an agent without skills, tools and history. */
export function stateOf(parts: StateParts = {}): AgentState {
  const { steps = [], reviews = [], tools = [], skills = [] } = parts;
  return {
    context: {
      task: {
        id: "5f0c9e1a-0000-4000-8000-000000000001",
        master_task_id: "5f0c9e1a-0000-4000-8000-000000000001",
        parent_id: null,
        created_by: null,
        agent_slug: "writer",
        input: parts.input ?? "Write a poem",
        depth: 0,
        stored_bytes_left: null,
        attempts: 0,
        runs_exclusively: false,
        deliveries: 1,
        traceparent: null,
        tracestate: null,
        has_cost_cap: false,
        has_changed_model: false,
        output_schema: parts.outputSchema ?? null,
        master_input: "Write a poem",
      },
      agent: {
        id: "a1",
        slug: "writer",
        system_prompt: "You write.",
        model: null,
        temperature: 0.7,
        max_tokens: parts.maxTokens ?? null,
        reasoning_effort: null,
        provider_tools: [...parts.providerTools ?? []],
        input_schema: null,
        output_schema: null,
        must_complete: parts.mustComplete ?? false,
        max_continuations: parts.maxContinuations ?? 3,
        max_turns: parts.maxTurns ?? null,
      },
      provider_rules: parts.providerRules ?? {},
      provider: null,
      window_tokens: parts.windowTokens ?? 128_000,
      model_max_tokens: parts.modelMaxTokens ?? null,
      fallbacks: [],
      guardrails: [...parts.guardrails ?? []],
      skills: [...skills],
      handoffs: [],
      steps: [],
      unsent_turns: 0,
      reviews: [...reviews],
      job_data_flows: [],
      first_epoch: null,
    },
    steps,
    toolset: { tools, unavailable: [] },
    toolSearchBytes: parts.toolSearchBytes ?? TOOL_SEARCH_BYTES,
    fileFacts: new Map(Object.entries(parts.fileFacts ?? {})),
    untried: new Set(parts.untried ?? []),
    asked: new Map(Object.entries(parts.asked ?? {}).map(([seq, asked]) => [Number(seq), asked])),
    spawned: new Set(parts.spawned ?? []),
  };
}

/** A call as a model requests it; its id is derived from the name. */
export function call(
  name: string,
  args: JsonObject | null = {},
  malformed?: string,
): ModelToolCall {
  const stored: ModelToolCall = { call_id: `call_${name}`, name, arguments: args };
  return malformed === undefined ? stored : { ...stored, malformed };
}

/** A finished model call. */
export function modelDone(seq: number, calls: readonly ModelToolCall[] = [], text = ""): ModelStep {
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  return {
    kind: "model",
    seq,
    state: "done",
    input: null,
    output: { text, tool_calls: [...calls], finish_reason },
  };
}

/** A model call whose answer was cut at the output limit, and how it follows an earlier one. */
export function modelCut(
  seq: number,
  calls: readonly ModelToolCall[] = [],
  text = "",
  input: ModelStep["input"] = null,
): ModelStep {
  const output = { text, tool_calls: [...calls], finish_reason: "length" as const };
  return { ...modelDone(seq), input, output: { ...output, cut_at_tokens: 100 } };
}

/** A started model call without an answer. */
export function modelStarted(seq: number): ModelStep {
  return { kind: "model", seq, state: "started", input: null, output: null };
}

/** A summary of the steps up to `through`. */
export function summaryDone(seq: number, through: number, text: string): ModelStep {
  return { ...modelDone(seq, [], text), input: { summarizes_through: through } };
}

/** A step of a call: of a registry tool unless `kind` is set. */
export function callStep(
  seq: number,
  name: string,
  parts: Partial<Omit<CallStep, "seq" | "name">> = {},
): CallStep {
  return {
    kind: "tool",
    seq,
    state: "done",
    name,
    call_id: `call_${name}`,
    input: { server: "files", arguments: {}, is_read_only: false, is_idempotent: false },
    output: parts.state === "started" ? null : { text: "fine", execution_id: "e1" },
    ...parts,
  };
}

/** A step of a system tool. */
export function systemStep(seq: number, name: string, parts: Partial<CallStep> = {}): CallStep {
  return callStep(seq, name, { kind: "system", output: { text: "fine" }, ...parts });
}

/** A tool of the server `files`, neither read-only nor idempotent. */
export function toolNamed(toolName: string, parts: Partial<AgentTool> = {}): AgentTool {
  return {
    modelName: toolName,
    toolId: "t1",
    server: "files",
    toolName,
    description: `Does ${toolName}`,
    inputSchema: { type: "object" },
    isReadOnly: false,
    isIdempotent: false,
    dataFlows: [],
    destination: null,
    ...parts,
  };
}
