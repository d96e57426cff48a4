import type { JsonObject } from "../../shared/platform/values/json.ts";
import { digestMarkdown } from "./markdown_digest.ts";
import {
  findOutcomes,
  findTool,
  isObject,
  readInput,
  type ScriptedAgent,
  type ScriptedAnswer,
  type ScriptedRequest,
} from "./scripted_agent.ts";

/**
 * Plays the seeded agent `reader`, which returns the digest of one Markdown file, or the problem.
 */
export const readerAgent: ScriptedAgent = {
  name: "reader",
  plays: ({ system }) => system.startsWith("You read one Markdown file"),
  answer: (request) => {
    const path = readPath(request);
    const [file] = findOutcomes(request, "read_text_file");
    if (file === undefined) return readFile(request, path);
    if (file.isError) return complete({ path, problem: file.text });
    const digest = { path, ...digestMarkdown(path, file.text) };
    const isSaved = findOutcomes(request, "save_intermediate_data").length > 0;
    return isSaved ? complete(digest) : save(digest);
  },
};

function readFile(request: ScriptedRequest, path: string): ScriptedAnswer {
  return {
    text: `I read ${path}.`,
    toolCalls: [{ name: findTool(request, "read_text_file"), arguments: { path } }],
  };
}

function save(digest: JsonObject): ScriptedAnswer {
  return {
    text: `"${digest.title}" has ${digest.words} words. I keep its digest.`,
    toolCalls: [{
      name: "save_intermediate_data",
      arguments: { key: "digest", value: digest },
    }],
  };
}

function complete(output: JsonObject): ScriptedAnswer {
  return { toolCalls: [{ name: "complete_task", arguments: { output } }] };
}

/** @throws Error when the input has no path. */
function readPath(request: ScriptedRequest): string {
  const input = readInput(request);
  const path = isObject(input) ? input.path : input;
  if (typeof path === "string" && path !== "") return path;
  throw new Error('This agent needs an input such as {"path": "/folder/file.md"}');
}
