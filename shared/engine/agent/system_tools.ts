import { z } from "../../vendor/zod.js";
import type { JsonObject } from "../../platform/values/json.ts";
import { jsonObject, jsonValue, toInputSchema } from "../../platform/values/json_schema.ts";
import type { ModelTool } from "../../models/llm/model_port.ts";
import { schemaOfProperty } from "./fit_output.ts";

const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Arguments of the five tools that every agent has, of `recall_result` and of `search_tools`. */
export const SYSTEM_TOOL_ARGUMENTS = {
  create_subtask: z.strictObject({
    agent: z.string().min(1).describe("Slug of the agent that gets the work."),
    input: z.union([z.string().min(1), jsonObject]).describe(
      "What the agent must do, with all the information it needs: it sees nothing else.",
    ),
  }),
  request_human_review: z.strictObject({
    question: z.string().min(1).max(10_000).describe("The question to decide."),
    options: z.array(z.string()).max(20).optional().describe("Answers to choose from."),
    context: jsonValue.optional().describe("The information that the person needs to decide."),
  }),
  save_intermediate_data: z.strictObject({
    key: z.string().regex(KEY, "must be 1 to 100 letters, digits, dots, dashes or underscores")
      .describe("Name of the value, such as `findings` or `report.md`."),
    value: jsonValue.describe("Any JSON value; a long text as a string."),
  }),
  complete_task: z.strictObject({
    output: jsonValue.describe("The whole result of the task."),
  }),
  load_skill: z.strictObject({
    skill_id: z.string().min(1).describe("Id of one of your skills."),
    resource: z.string().min(1).optional().describe(
      "Path of one of the skill's resources; omit it to read the skill's instructions.",
    ),
  }),
  recall_result: z.strictObject({
    step: z.int().positive().describe("Number of the step, as shown in place of its result."),
    offset: z.int().nonnegative().optional().describe(
      "Characters to skip. Omit it to read from the beginning.",
    ),
  }),
  search_tools: z.strictObject({
    query: z.string().min(1).max(1_000).describe(
      "What the tool does and with what, such as `refund a payment`.",
    ),
  }),
} as const;

/** Name of a tool that every agent has. */
export type SystemToolName = keyof typeof SYSTEM_TOOL_ARGUMENTS;

/** Parsed arguments of one system tool. */
export type SystemToolArguments<Name extends SystemToolName> = z.infer<
  typeof SYSTEM_TOOL_ARGUMENTS[Name]
>;

const DESCRIPTIONS: Readonly<Record<SystemToolName, string>> = {
  create_subtask:
    "Hands work to another agent. Several calls in one turn run in parallel. The result is " +
    "{agent, status, output} or {agent, status, error}.",
  request_human_review:
    "Asks a person and waits for the answer: {approved, response, comments}. Use it for " +
    "decisions that are not yours to make.",
  save_intermediate_data: "Stores a value with the task, for people and for later steps.",
  complete_task: "Ends the task with its result. Call it once, when everything is done.",
  load_skill: "Reads the instructions of one of your skills, or one of its resources.",
  recall_result: "Reads the result of an earlier step that is omitted above.",
  search_tools:
    "Finds tools that you may call but do not see yet. From the next turn on you can call those " +
    "that it finds.",
};

/** True when `name` is one of the system tools. */
export function isSystemTool(name: string): name is SystemToolName {
  return Object.hasOwn(SYSTEM_TOOL_ARGUMENTS, name);
}

/** What decides which system tools a model gets. */
export interface SystemToolOptions {
  /** Part of the conversation is omitted, so `recall_result` is offered too. @default false */
  readonly canRecall?: boolean;
  /** The servers whose tools `search_tools` finds; null if every tool is offered. @default null */
  readonly searched?: readonly string[] | null;
}

/**
 * The five system tools as they are offered to a model, and those of the others that it needs.
 *
 * @param outputSchema Schema of the result that `complete_task` takes; null for any JSON value.
 */
export function systemModelTools(
  outputSchema: JsonObject | null,
  { canRecall = false, searched = null }: SystemToolOptions = {},
): ModelTool[] {
  defaultTools ??= Object.entries(SYSTEM_TOOL_ARGUMENTS).map(([name, schema]) => ({
    name,
    description: DESCRIPTIONS[name as SystemToolName],
    inputSchema: toInputSchema(schema),
  }));
  return defaultTools
    .filter(({ name }) => canRecall || name !== "recall_result")
    .filter(({ name }) => searched !== null || name !== "search_tools")
    .map((tool) => {
      if (tool.name === "complete_task" && outputSchema !== null) {
        return { ...tool, inputSchema: schemaOfProperty("output", outputSchema) };
      }
      return tool.name === "search_tools" ? withServers(tool, searched ?? []) : tool;
    });
}

function withServers(tool: ModelTool, servers: readonly string[]): ModelTool {
  return {
    ...tool,
    description: `${tool.description} Search before you say that you have no tool for something. ` +
      `Your tools are of these servers: ${servers.join(", ")}.`,
  };
}

/** Kept, because converting the schemas takes longer than the rest of a decision. */
let defaultTools: readonly ModelTool[] | undefined;
