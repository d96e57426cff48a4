import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";
import { modelAnswer } from "../../models/llm/model_port.ts";

const stepKind = z.enum(CLOSED_SETS.task_steps.kind);
const stepState = z.enum(CLOSED_SETS.task_steps.state);
const seq = z.int().positive();

const leftOut = z.object({
  /** Long results of calls up to this step were shortened; 0 if none. */
  results_through: z.int().nonnegative(),
  /** The step with the summary of everything before; null if none. */
  summary_seq: seq.nullable(),
});

/** Null for a call whose prompt contained the whole transcript and all tools. */
const modelInput = z.object({
  /** For a summary: the last step it covers. */
  summarizes_through: seq.exactOptional(),
  /** What the prompt omitted from the transcript. */
  left_out: leftOut.exactOptional(),
  /** The step whose text the answer continues, because it was cut at the output limit. */
  continues: seq.exactOptional(),
  /** The output limit of a call after a cut one, more than the agent's; null: the model's own. */
  max_tokens: z.int().positive().nullable().exactOptional(),
  /** The registry tools of the first call, if it did not offer all; later calls add to them. */
  offered_tools: z.array(z.string()).exactOptional(),
  /** The task ended after this answer and was retried: the model was asked again. */
  retried: z.literal(true).exactOptional(),
}).nullable().default(null);

const modelStep = z.object({
  kind: z.literal("model"),
  seq,
  state: stepState,
  input: modelInput,
  /** How often a worker ended during this call. */
  interruptions: z.int().nonnegative().exactOptional(),
  /** Null until the step has ended. */
  output: modelAnswer.nullable(),
});

const callStep = z.object({
  kind: stepKind.exclude(["model", "user", "guardrail"]),
  seq,
  /** `failed`: ended, and the result is an error that the model reads. */
  state: stepState,
  name: z.string(),
  call_id: z.string(),
  input: jsonObject.nullable(),
  /** Null until the step has ended, and for a success that a summary covers. */
  output: jsonValue.nullable(),
});

const messageStep = z.object({
  kind: z.literal("user"),
  seq,
  state: stepState,
  /** The user's message after the task ended. */
  input: jsonValue,
});

const guardrailStage = z.enum(CLOSED_SETS.agent_guardrails.stage);

const guardrailStep = z.object({
  kind: z.literal("guardrail"),
  seq,
  /** `failed`: refused. */
  state: stepState,
  name: z.string(),
  call_id: z.string(),
  input: z.object({
    stage: guardrailStage,
    server: z.string(),
    /** Index of the guardrail in its stage, from 0. */
    index: z.int().nonnegative(),
    /** The message that is checked: 0 for the task's input. */
    message_seq: z.int().nonnegative(),
  }),
  output: z.object({
    text: z.string(),
    allowed: z.boolean().default(false),
    replacement: jsonValue.optional(),
  }).nullable(),
});

const review = z.object({
  /** The step that asked. */
  seq,
  kind: z.enum(CLOSED_SETS.human_reviews.kind),
  approved: z.boolean().nullable(),
  response: jsonValue.nullable(),
  /** The arguments of an approved call, as the person may have changed them. */
  approved_arguments: jsonObject.nullable(),
  /** Why an approval was needed; null for a question of the agent. */
  reasons: z.array(z.string()).nullable(),
  comments: z.string().nullable(),
  /** Null while the question is open. */
  answered_at: z.string().nullable(),
  /** The reviewed call has run again since, so the answer permits no further run. */
  is_spent: z.boolean(),
});

const provider = z.object({
  id: z.string(),
  name: z.string(),
  api: z.enum(CLOSED_SETS.llm_providers.api),
  base_url: z.string().nullable(),
  default_model: z.string(),
  requires_api_key: z.boolean(),
  api_key_secret_name: z.string().nullable(),
});

/** Of a worker whose database does not have the column yet. */
const DEFAULT_CONTINUATIONS = 3;

/** What `private.claim_tasks()` returns about a task: everything a worker needs to continue it. */
export const taskContext = z.object({
  task: z.object({
    id: z.string(),
    master_task_id: z.string(),
    parent_id: z.string().nullable(),
    /** The owner; tools are called with the owner's identity. Null for the service itself. */
    created_by: z.string().nullable(),
    agent_slug: z.string().nullable(),
    input: jsonValue,
    depth: z.int(),
    attempts: z.int(),
    deliveries: z.int(),
    /** A model call was lost twice with its worker, so the next call runs alone. */
    runs_exclusively: z.boolean().default(false),
    traceparent: z.string().nullable(),
    tracestate: z.string().nullable(),
    /** Bytes the owner may still store, as of the claim; null without a limit. */
    stored_bytes_left: z.number().nullable(),
    /** True if the job's budget limits its cost. */
    has_cost_cap: z.boolean(),
    /** True if the task tries another model than the agent's. */
    has_changed_model: z.boolean().default(false),
    /** JSON Schema of this task's result; null uses the agent's. */
    output_schema: jsonObject.nullable(),
    /** The input of the master task. */
    master_input: jsonValue,
  }),
  /** Null when the agent has been deleted since. */
  agent: z.object({
    id: z.string(),
    slug: z.string(),
    system_prompt: z.string(),
    /** Null: the provider's default model. */
    model: z.string().nullable(),
    temperature: z.number().nullable(),
    max_tokens: z.int().nullable(),
    reasoning_effort: z.enum(CLOSED_SETS.agents.reasoning_effort).nullable(),
    /** Tools that the model's provider runs. */
    provider_tools: z.array(z.enum(CLOSED_SETS.agents.provider_tools)),
    /** JSON Schema of the inputs of its tasks; null: any object or text. */
    input_schema: jsonObject.nullable().default(null),
    /** JSON Schema of the results of its tasks; null: any text or value. */
    output_schema: jsonObject.nullable(),
    /** Its tasks end with `complete_task`, not with a plain answer. */
    must_complete: z.boolean(),
    /** Most model calls that continue one answer that was cut at the output limit. */
    max_continuations: z.int().nonnegative().default(DEFAULT_CONTINUATIONS),
    /** Most model calls of one run of a task. Null: only the budget limits them. */
    max_turns: z.int().positive().nullable().default(null),
  }).nullable(),
  /** The rules for the tools that the model's provider runs: their `ask`, by tool. */
  provider_rules: z.partialRecord(
    z.enum(CLOSED_SETS.agents.provider_tools),
    z.array(z.enum(CLOSED_SETS.agent_approvals.ask)),
  ).default({}),
  /** Null if the agent has no provider or its provider is inactive. */
  provider: provider.nullable(),
  /** Context window of the agent's model in tokens, prompt and answer together. */
  window_tokens: z.int().positive().default(128_000),
  /** The most tokens that the agent's model can write in one answer; null if that is not known. */
  model_max_tokens: z.int().positive().nullable().default(null),
  /** Providers to use when the first one fails, in this order. */
  fallbacks: z.array(z.object({
    provider,
    model: z.string().nullable(),
    /** A job with a cost cap calls only models with a known price. */
    is_priced: z.boolean(),
  })),
  /** Guardrails on the agent's input and output, in order for each stage. */
  guardrails: z.array(z.object({
    stage: guardrailStage,
    server: z.string(),
    tool_name: z.string(),
  })).default([]),
  skills: z.array(z.object({ skill_id: z.string(), name: z.string(), description: z.string() })),
  handoffs: z.array(z.object({ slug: z.string(), description: z.string().nullable() })),
  /** Of those that the newest summary covers only what decisions read, without arguments and results. */
  steps: z.array(z.discriminatedUnion("kind", [modelStep, callStep, messageStep, guardrailStep])),
  /** Ended turns of the current run that `steps` lacks, because a summary covers them. */
  unsent_turns: z.int().nonnegative().default(0),
  reviews: z.array(review),
  /** The data flows of the tools that the job has called so far. */
  job_data_flows: z.array(z.string()),
  /** The epoch of the run that wrote the first step; null before it. */
  first_epoch: z.string().nullable().default(null),
});

/** The record of a model call that is stored before the call. */
export type ModelInput = z.infer<typeof modelInput>;

/** Parses the record of a model call that was stored before the call. */
export function readModelInput(input: unknown): ModelInput {
  return modelInput.parse(input);
}

/** Reads a check as it is stored. */
export function readGuardrailStep(step: unknown): GuardrailStep {
  return guardrailStep.parse(step);
}

/** A task with its agent, transcript and reviews, as claimed. */
export type TaskContext = z.infer<typeof taskContext>;
/** The agent that a task runs as. */
export type Agent = NonNullable<TaskContext["agent"]>;
/** What a prompt omits from its transcript. */
export type LeftOut = z.infer<typeof leftOut>;
/** A model call of the transcript. */
export type ModelStep = z.infer<typeof modelStep>;
/** A tool call of the transcript: through the gateway, or of a system tool. */
export type CallStep = z.infer<typeof callStep>;
/** A message that continued the task. */
export type MessageStep = z.infer<typeof messageStep>;
/** A check of a message or of the result. */
export type GuardrailStep = z.infer<typeof guardrailStep>;
/** One row of the transcript. */
export type Step = ModelStep | CallStep | MessageStep | GuardrailStep;
/** A question to a person and, once given, the answer. */
export type Review = z.infer<typeof review>;
