import { z } from "../../vendor/zod.js";
import { FENCE_RULE, fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { textBlock } from "../../platform/values/content_block.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { nextTurn } from "../../platform/isolate/next_turn.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { describeResults } from "../sql/results/describe_results.ts";
import { readResults, ResultsUnreadable } from "../sql/results/read_results.ts";
import type { ResultTable } from "../sql/results/result_table.ts";
import { MAX_CHART_ROWS, resultsChart } from "../sql/results/results_chart.ts";
import { resultsCsv, resultsJson, resultsTable } from "../sql/results/results_text.ts";
import {
  defineTool,
  reply,
  type ToolContext,
  type ToolReply,
} from "../../gateway/tool_contracts/internal_server.ts";
import { modelChoice } from "./model_choice.ts";
import { READ_SCOPES } from "./sql_scopes.ts";
import { toolError, toolFailure } from "./tool_failure.ts";

/** An answer of `execute_sql` with the default `max_bytes`, and its envelope. */
const MAX_DATA_CHARACTERS = 1_200_000;
/** Maximum length of the rows in a model's prompt, which also has the counted summary. */
const MAX_PROMPT_CHARACTERS = 20_000;
/** Includes the reasoning of models that reason by default. */
const MAX_SUMMARY_TOKENS = 4_000;

const resultsRequest = z.strictObject({
  data: z.string().max(MAX_DATA_CHARACTERS)
    .describe("Rows: the answer of execute_sql, a JSON list, or CSV with a header line"),
  format: z.enum(["table", "chart", "summary", "csv", "json"]),
  ...modelChoice,
});
type ResultsRequest = z.output<typeof resultsRequest>;

const resultsAnswer = z.object({
  format: resultsRequest.shape.format,
  row_count: z.int(),
  columns: z.array(z.string()),
  text: z.string().describe("The result in the requested format; for a chart, its image as SVG"),
  vega_lite: z.record(z.string(), jsonValue).optional().describe(
    "Specification of a chart: data, no code",
  ),
  svg: z.string().optional(),
  summary_by: z.enum(["model", "counting"]).optional(),
  note: z.string().optional().describe("What is omitted, or why no model wrote the summary"),
  error: toolError.optional(),
});
type ResultsAnswer = z.input<typeof resultsAnswer>;

/** The parts of a formatted result. */
interface Formatted {
  readonly answer: Omit<ResultsAnswer, "format" | "row_count" | "columns">;
  readonly provider?: string;
  readonly model?: string;
}

/** Shows rows as a table, chart, summary, CSV or JSON. Only the summary calls a model. */
export const formatResultsTool = defineTool({
  name: "format_results",
  title: "Format results",
  description:
    "Shows the rows of a query as a Markdown table, a chart (Vega-Lite specification and SVG), a " +
    "summary, CSV with escaped formulas, or JSON. A model writes the summary if one is " +
    "available; otherwise it contains counts and states this.",
  version: "1",
  scopes: READ_SCOPES,
  annotations: {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: resultsRequest,
  output: resultsAnswer,
  async run(request, context) {
    try {
      return await format(request, context);
    } catch (error) {
      context.signal.throwIfAborted();
      const failure = error instanceof ResultsUnreadable ? unreadable(error) : error;
      if (!(failure instanceof SwarmError)) throw error;
      const { format } = request;
      return toolFailure(failure, { format, row_count: 0, columns: [], text: "" }, metaOf({}));
    }
  },
});

async function format(request: ResultsRequest, context: ToolContext): Promise<ToolReply> {
  const table = readResults(request.data);
  // Reading, formatting and answering are a turn each, because the rows may be large.
  await nextTurn();
  const formatted = await FORMATS[request.format](table, request, context);
  await nextTurn();
  const { text, note } = formatted.answer;
  return reply([textBlock(note === undefined ? text : `${text}\n\n${note}`)], {
    structured: {
      format: request.format,
      row_count: table.rows.length,
      columns: [...table.columns],
      ...formatted.answer,
    } as JsonObject,
    meta: metaOf(formatted),
  });
}

type Format = (
  table: ResultTable,
  request: ResultsRequest,
  context: ToolContext,
) => Formatted | Promise<Formatted>;

const FORMATS: Readonly<Record<ResultsRequest["format"], Format>> = {
  table: (table) => ({ answer: { text: resultsTable(table) } }),
  csv: (table) => ({ answer: { text: resultsCsv(table) } }),
  json: (table) => ({ answer: { text: resultsJson(table) } }),
  chart,
  summary,
};

function chart(table: ResultTable): Formatted {
  const drawn = resultsChart(table);
  if (drawn === null) {
    throw new SwarmError(
      "TOOL_ARGUMENTS_INVALID",
      "Cannot draw a chart: no column of the rows has numbers",
      { hint: "Select a numeric column, or use the format table." },
    );
  }
  const left = table.rows.length - MAX_CHART_ROWS;
  return {
    answer: {
      text: drawn.svg,
      svg: drawn.svg,
      vega_lite: drawn.vegaLite,
      ...(left > 0 ? { note: `The chart omits the last ${left} rows.` } : {}),
    },
  };
}

/** A model's summary of the rows, or counts if no model is available. */
async function summary(
  table: ResultTable,
  { llm_provider, llm_model }: ResultsRequest,
  context: ToolContext,
): Promise<Formatted> {
  const counted = describeResults(table);
  try {
    const { text, provider, model } = await context.callModel({
      provider: llm_provider,
      model: llm_model,
      system:
        "You summarize query results for people who know the business and not the database. " +
        `Name the few facts that matter, with their numbers, and nothing else. ${FENCE_RULE}`,
      messages: [{
        role: "user",
        text: `Summarize these query results.\n${fenceData(promptOf(table, counted), "rows")}`,
      }],
      temperature: 0.2,
      maxOutputTokens: MAX_SUMMARY_TOKENS,
    });
    return { answer: { text, summary_by: "model" }, provider, model };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof SwarmError) || error.code === "TOOL_ARGUMENTS_INVALID") throw error;
    return {
      answer: {
        text: counted,
        summary_by: "counting",
        note: `Counted, not written by a model: ${error.message} (${error.code}).`,
      },
    };
  }
}

function promptOf(table: ResultTable, counted: string): string {
  const rows = resultsCsv(table);
  const isCut = rows.length > MAX_PROMPT_CHARACTERS;
  return `${counted}\n\n${rows.slice(0, MAX_PROMPT_CHARACTERS)}${isCut ? "\n(more rows)" : ""}`;
}

function unreadable({ message }: ResultsUnreadable): SwarmError {
  return new SwarmError("TOOL_ARGUMENTS_INVALID", `Cannot read the rows in data: ${message}`, {
    hint: "Send the answer of execute_sql, a JSON list of objects, or CSV with a header line.",
  });
}

function metaOf({ provider, model }: Pick<Formatted, "provider" | "model">): JsonObject {
  return { provider_used: provider ?? null, model_used: model ?? null };
}
