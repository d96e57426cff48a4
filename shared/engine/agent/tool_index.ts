import type { AgentTool, AgentToolset } from "../../gateway/tool_contracts/agent_tool.ts";
import type { ModelTool } from "../../models/llm/model_port.ts";
import { byteLength } from "../../platform/values/byte_length.ts";
import { isJsonObject, type JsonObject } from "../../platform/values/json.ts";
import {
  gainsOf,
  indexWords,
  questionWords,
  type WeightedWords,
  type WordIndex,
} from "../../platform/values/rank_by_words.ts";
import { stemmedWords } from "../../platform/values/stemmed_words.ts";
import { isSystemTool } from "./system_tools.ts";

/** Weight of a word by its place. */
const NAME_WEIGHT = 4;
const SERVER_WEIGHT = 2;
const DESCRIPTION_WEIGHT = 1;
const ARGUMENT_WEIGHT = 0.7;

/** What is read of a description and of the arguments: servers write them as long as they like. */
const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_ARGUMENTS = 50;

/** Verbs are not among them: `list_orders` and `get_order` differ by nothing else. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  "an and are as at be by can for from how in into is it its me my of on or our that the their them this to use what when which with you your"
    .split(" "),
);

/** A tool of an agent, in the form in which it is offered, with its size there. */
export interface IndexedTool {
  readonly tool: AgentTool;
  readonly offered: ModelTool;
  readonly bytes: number;
}

/** The tools of an agent by the name that its model calls them by, in the order of the toolset. */
export interface ToolIndex {
  readonly tools: ReadonlyMap<string, IndexedTool>;
  /** Bytes of all definitions together. */
  readonly bytes: number;
}

/** Kept with the toolset, which is the same for all decisions of a run. */
const known = new WeakMap<AgentToolset, ToolIndex>();
const knownWords = new WeakMap<ToolIndex, WordIndex>();

/** The tools of an agent without those whose name a system tool has. */
export function indexTools(toolset: AgentToolset): ToolIndex {
  const before = known.get(toolset);
  if (before !== undefined) return before;
  const tools = new Map(
    toolset.tools.filter(({ modelName }) => !isSystemTool(modelName)).map((tool) => {
      const { modelName: name, description, inputSchema } = tool;
      const offered = { name, description, inputSchema };
      return [name, { tool, offered, bytes: byteLength(JSON.stringify(offered)) }] as const;
    }),
  );
  const bytes = tools.values().reduce((sum, tool) => sum + tool.bytes, 0);
  const index = { tools, bytes };
  known.set(toolset, index);
  return index;
}

/** The tools that match a text, the best first (BM25). Equally good ones keep their order. */
export function matchTools(text: string, index: ToolIndex, limit: number): readonly IndexedTool[] {
  const words = wordsOfTools(index);
  const scores = new Map<number, number>();
  for (const word of questionWords(stemmedWords(text, STOP_WORDS))) {
    for (const [place, gain] of gainsOf(word, words)) {
      scores.set(place, (scores.get(place) ?? 0) + gain);
    }
  }
  const all = [...index.tools.values()];
  return [...scores]
    .sort(([placeA, scoreA], [placeB, scoreB]) => scoreB - scoreA || placeA - placeB)
    .slice(0, limit)
    .flatMap(([place]) => all[place] ?? []);
}

function wordsOfTools(index: ToolIndex): WordIndex {
  const before = knownWords.get(index);
  if (before !== undefined) return before;
  const words = indexWords([...index.tools.values().map(({ tool }) => partsOf(tool))]);
  knownWords.set(index, words);
  return words;
}

function partsOf(tool: AgentTool): readonly WeightedWords[] {
  const weighted = (text: string, weight: number) => ({
    words: stemmedWords(text, STOP_WORDS),
    weight,
  });
  return [
    weighted(tool.toolName, NAME_WEIGHT),
    weighted(tool.server, SERVER_WEIGHT),
    weighted(tool.description.slice(0, MAX_DESCRIPTION_CHARS), DESCRIPTION_WEIGHT),
    weighted(argumentNames(tool.inputSchema).join(" "), ARGUMENT_WEIGHT),
  ];
}

function argumentNames({ properties }: JsonObject): readonly string[] {
  return isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_ARGUMENTS) : [];
}
