import type { JsonValue } from "../json.ts";
import { isNestedTooDeep } from "../json_depth.ts";
import type { Redactor } from "../secrets/redact.ts";
import type { OpenedServer } from "./kinds/open_tool_server.ts";
import type { ToolCallRequest, ToolLogSink, ToolProgress } from "../tool_contracts/tool_call.ts";

/** What a tool says on the way is shown at once and kept nowhere; a longer text is cut. */
const MAX_MESSAGE_CHARACTERS = 8_000;

/** Where a tool's messages go while it runs; null where nobody asked. */
export interface MessageSinks {
  readonly onProgress: ((progress: ToolProgress) => void) | null;
  readonly logs: ToolLogSink | null;
}

/** The caller's sinks, which get messages without the secrets of the call so far, and cut. */
export function redactedMessages(
  { onProgress, logs }: Pick<ToolCallRequest, "onProgress" | "logs">,
  { redactor }: Pick<OpenedServer, "redactor">,
): MessageSinks {
  const toShown = (text: string) => cut(redactor().head(text, MAX_MESSAGE_CHARACTERS + 1));
  return {
    onProgress: onProgress === undefined ? null : ({ message, ...progress }) =>
      onProgress({
        ...progress,
        ...(message === undefined ? {} : { message: toShown(message) }),
      }),
    logs: logs === undefined ? null : {
      level: logs.level,
      write: ({ level, data, logger }) =>
        logs.write({
          level,
          data: isNestedTooDeep(data) ? "(nested too deep)" : short(data, redactor()),
          ...(logger === undefined ? {} : { logger: toShown(logger) }),
        }),
    },
  };
}

/** A longer value as the beginning of its text. */
function short(data: JsonValue, redactor: Redactor): JsonValue {
  if (typeof data === "string") return cut(redactor.head(data, MAX_MESSAGE_CHARACTERS + 1));
  const text = JSON.stringify(data);
  return text.length <= MAX_MESSAGE_CHARACTERS
    ? redactor.json(data)
    : cut(redactor.head(text, MAX_MESSAGE_CHARACTERS + 1));
}

function cut(text: string): string {
  return text.length <= MAX_MESSAGE_CHARACTERS
    ? text
    : `${text.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()} (cut)`;
}
