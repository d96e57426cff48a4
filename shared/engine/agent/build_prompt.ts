import { definedOnly } from "../../platform/values/defined_only.ts";
import type { AnswerForm, ModelApi, ModelMessage, ModelTool } from "../../models/llm/model_port.ts";
import type { AgentState } from "./agent_state.ts";
import { buildMessages, inputText } from "./build_messages.ts";
import { completionTerms } from "./completion.ts";
import type { MeasuredPrompt } from "./estimate_tokens.ts";
import type { SummarySpan } from "./fit_prompt.ts";
import { checkedMessage } from "./guardrails.ts";
import type { ToolOffer } from "./offer_tools.ts";
import { summaryPrompt } from "./summary_prompt.ts";
import { systemModelTools } from "./system_tools.ts";
import { systemPrompt } from "./system_prompt.ts";
import type { Agent, LeftOut } from "./task_context.ts";
import { isSummary } from "./turns.ts";

/** The result of a task as `complete_task` accepts it. */
export const FINAL_ANSWER = { tool: "complete_task", argument: "output" } as const;

/** A prompt, independent of provider and settings. */
export interface Prompt {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** The same for all prompts of the task, because each prompt extends the previous one. */
  readonly cacheKey: string;
  /** The API of the first provider; absent if there is no provider. */
  readonly api?: ModelApi;
  /** The argument that holds the final answer, if a tool call carries it. */
  readonly streamedArgument: { readonly tool: string; readonly argument: string };
  /** The schema that an answer without a tool call must match. */
  readonly output?: AnswerForm;
}

/** The prompt of a model call, without what is left out so that it fits. */
export function buildPrompt(
  state: AgentState,
  agent: Agent,
  { tools, searched }: ToolOffer,
  omitted: { readonly leftOut: LeftOut; readonly lastTurnChars?: number },
): Prompt {
  const { context, toolset, steps, fileFacts } = state;
  const terms = completionTerms(context);
  const { leftOut } = omitted;
  const canRecall = leftOut.results_through > 0 || leftOut.summary_seq !== null;
  return {
    system: systemPrompt(agent, context, toolset.unavailable, terms),
    messages: buildMessages(context.task.input, steps, terms, { ...omitted, fileFacts }),
    tools: [...systemModelTools(terms.outputSchema, { canRecall, searched }), ...tools],
    streamedArgument: FINAL_ANSWER,
    cacheKey: context.task.id,
    ...definedOnly({ api: context.provider?.api }),
    ...(terms.outputSchema === null || terms.mustComplete ? {} : {
      output: { schema: terms.outputSchema, isBesideTools: searched !== null || tools.length > 0 },
    }),
  };
}

/** The prompt that asks the model to summarize a span of steps. */
export function buildSummaryPrompt(
  { context, steps }: AgentState,
  span: SummarySpan,
): MeasuredPrompt {
  const { leftOut, resultChars, through, maxWords } = span;
  const spanned = steps.filter((step) => step.seq <= through || isSummary(step));
  const label = (text: string, seq: number) => `[step ${seq}] ${text}`;
  const terms = completionTerms(context);
  const [, ...messages] = buildMessages("", spanned, terms, { leftOut, resultChars, label });
  const task = inputText(checkedMessage(steps, 0, context.task.input));
  return summaryPrompt({ task, messages, maxWords });
}
