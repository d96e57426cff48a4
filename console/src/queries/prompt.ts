// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useInfiniteQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { projectSwarm } from "../project/project_client.ts";
import { RequestError } from "../project/request_error.ts";
import { factsOf, textIn } from "../results/tool_result.ts";

const PAGE_SIZE = 20;
/** The limit for each text; the complete text is requested separately. */
const TEXT_CHARACTERS = 8_192;
const WHOLE_TEXT_CHARACTERS = 100_000;

/** A message that was sent to a model. */
export interface PromptMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  /** The length of the complete text. */
  readonly characters: number;
  readonly name?: string;
  readonly is_error?: boolean;
  readonly tool_calls?: readonly {
    readonly call_id: string;
    readonly name: string;
    readonly arguments: unknown;
  }[];
}

/** The prompt of a model at one step, or a page of it. */
export interface Prompt {
  readonly agent: string;
  /** Null for everyone except operators of the project. */
  readonly system: string | null;
  readonly message_count: number;
  readonly messages: readonly PromptMessage[];
  readonly system_tools: readonly string[];
  readonly servers: readonly string[];
  /** The tools of these servers that the model saw; null if it saw all. */
  readonly offered_tools: readonly string[] | null;
}

/** The prompt of a step's model, message by message, read when the user opens it. */
export function usePrompt(taskId: Ref<string>, seq: Ref<number>, isWanted: Ref<boolean>) {
  return useInfiniteQuery({
    queryKey: computed(() => ["job", taskId.value, "prompt", seq.value]),
    queryFn: ({ pageParam, signal }) =>
      readPrompt({ task_id: taskId.value, seq: seq.value, after_message: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (page, _pages, after) => {
      const reached = after + page.messages.length;
      return page.messages.length > 0 && reached < page.message_count ? reached : undefined;
    },
    enabled: isWanted,
    // A recorded prompt does not change.
    staleTime: Infinity,
  });
}

/** One message with up to 100,000 characters of its text. @throws RequestError */
export async function readPromptMessage(
  taskId: string,
  seq: number,
  index: number,
): Promise<PromptMessage | undefined> {
  const { messages } = await readPrompt({
    task_id: taskId,
    seq,
    after_message: index,
    limit: 1,
    max_characters: WHOLE_TEXT_CHARACTERS,
  });
  return messages[0];
}

async function readPrompt(
  parameters: Readonly<Record<string, string | number>>,
  signal?: AbortSignal,
): Promise<Prompt> {
  const result = await projectSwarm().tools.call(
    { server: "swarm", name: "read_prompt" },
    { limit: PAGE_SIZE, max_characters: TEXT_CHARACTERS, ...parameters },
    { signal },
  );
  if (result.isError !== true) return result.structuredContent as unknown as Prompt;
  throw new RequestError({
    code: factsOf(result).errorCode ?? "TOOL_FAILED",
    message: textIn(result) || "Cannot read what the model saw",
    status: 422,
  });
}
