import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";
import { type FileReading, toReading, writeOutline, writeReport } from "./planner_report.ts";
import {
  findOutcomes,
  findTool,
  isObject,
  readInput,
  type ScriptedAgent,
  type ScriptedAnswer,
  type ScriptedRequest,
  type ToolOutcome,
} from "./scripted_agent.ts";

/** Maximum number of files that a planner hands off. It reports how many more there are. */
const MAX_FILES = 12;

/** Plays the seeded agent `planner`, which writes a report on a folder of Markdown files. */
export const plannerAgent: ScriptedAgent = {
  name: "planner",
  plays: ({ system }) => system.startsWith("You write a report over a folder"),
  answer: (request) => {
    const folder = readFolder(request);
    const [listing] = findOutcomes(request, "list_directory");
    if (listing === undefined) return begin(request, folder);

    const files = listMarkdownFiles(folder, listing);
    const answers = findOutcomes(request, "create_subtask");
    if (files.length === 0) return complete({ report: null, files: 0, summary: listing.text });
    if (answers.length === 0) return handOff(files);

    const readings = answers.map(toReading);
    const saved = findOutcomes(request, "save_intermediate_data").map(keyOf);
    const [review] = findOutcomes(request, "request_human_review");
    if (!saved.includes("digests")) return saveDigests(readings);
    if (review === undefined) return askForReview(folder, readings);
    return finish({ folder, readings, review, isReportSaved: saved.includes("report.md") });
  },
};

function begin(request: ScriptedRequest, folder: string): ScriptedAnswer {
  return {
    text: `I load my skill and look into ${folder}.`,
    toolCalls: [
      { name: "load_skill", arguments: { skill_id: "report-writing" } },
      { name: findTool(request, "list_directory"), arguments: { path: folder } },
    ],
  };
}

function handOff(files: readonly string[]): ScriptedAnswer {
  const handed = files.slice(0, MAX_FILES);
  const left = files.length - handed.length;
  const note = left === 0 ? "" : ` ${left} more are left out.`;
  return {
    text: `The folder holds ${files.length} Markdown files. One reader takes each.${note}`,
    toolCalls: handed.map((path) => ({
      name: "create_subtask",
      arguments: { agent: "reader", input: { path } },
    })),
  };
}

function saveDigests(readings: readonly FileReading[]): ScriptedAnswer {
  const digests = readings.map(({ path, digest, problem }) => digest ?? { path, problem });
  return {
    text: "All readers have answered. I keep their digests.",
    toolCalls: [{
      name: "save_intermediate_data",
      arguments: { key: "digests", value: digests },
    }],
  };
}

function askForReview(folder: string, readings: readonly FileReading[]): ScriptedAnswer {
  return {
    text: "Before I write the report, a person should look at its outline.",
    toolCalls: [{
      name: "request_human_review",
      arguments: {
        question: `Should I write the report on ${folder} with this outline?`,
        options: ["Write it", "Stop here"],
        context: { outline: writeOutline(readings) },
      },
    }],
  };
}

function finish(
  { folder, readings, review, isReportSaved }: {
    readonly folder: string;
    readonly readings: readonly FileReading[];
    readonly review: ToolOutcome;
    readonly isReportSaved: boolean;
  },
): ScriptedAnswer {
  const answer = isObject(review.json) ? review.json : {};
  const comments = typeof answer.comments === "string" ? answer.comments : "";
  const files = readings.length;
  if (answer.approved !== true) {
    return complete({ report: null, files, summary: `The review stopped the report. ${comments}` });
  }
  if (!isReportSaved) {
    const report = writeReport({ folder, readings, comments });
    return {
      text: "The outline is approved. I write the report.",
      toolCalls: [{
        name: "save_intermediate_data",
        arguments: { key: "report.md", value: report },
      }],
    };
  }
  const words = readings.reduce((sum, { digest }) => sum + (digest?.words ?? 0), 0);
  const summary = `The report covers ${files} documents of ${words} words in all. ` +
    `It was approved${comments === "" ? "" : ` with the words: ${comments}`}.`;
  return complete({ report: "report.md", files, summary });
}

function complete(output: JsonObject): ScriptedAnswer {
  return { toolCalls: [{ name: "complete_task", arguments: { output } }] };
}

/** Reads lines such as `[FILE] notes.md` from the output of the filesystem server. */
function listMarkdownFiles(folder: string, listing: ToolOutcome): string[] {
  return [...listing.text.matchAll(/^\[FILE\] (.+\.md)$/gm)]
    .map(([, name]) => `${folder.replace(/\/$/, "")}/${name}`);
}

/** @throws Error when the input has no folder. */
function readFolder(request: ScriptedRequest): string {
  const input: JsonValue = readInput(request);
  const folder = isObject(input) ? input.folder : /\/[^\s"']+/.exec(String(input))?.[0];
  if (typeof folder === "string" && folder !== "") return folder;
  throw new Error('This agent needs an input such as {"folder": "/path/of/markdown"}');
}

function keyOf({ call }: ToolOutcome): unknown {
  return JSON.parse(call.argumentsText).key;
}
