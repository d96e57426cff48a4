import type { JsonValue } from "../../platform/values/json.ts";
import { isNestedTooDeep } from "../../platform/values/json_depth.ts";
import type { Redactor } from "../../platform/secrets/redact.ts";
import type { OpenedServer } from "./kinds/open_tool_server.ts";
import type {
  StreamedText,
  ToolCallRequest,
  ToolLogSink,
  ToolProgress,
} from "../tool_contracts/tool_call.ts";
import { beginningOf } from "../../platform/values/beginning_of.ts";

/**
 * Messages of a running tool are shown immediately and never stored; a longer text is truncated.
 */
const MAX_MESSAGE_CHARACTERS = 8_000;

/** The sinks for a running tool's messages; null if not requested. */
export interface MessageSinks {
  readonly onProgress: ((progress: ToolProgress) => void) | null;
  readonly onText: ((text: StreamedText) => void) | null;
  readonly logs: ToolLogSink | null;
}

/** The caller's sinks; messages are redacted and truncated. */
export function redactedMessages(
  { onProgress, onText, logs }: Pick<ToolCallRequest, "onProgress" | "onText" | "logs">,
  { redactor }: Pick<OpenedServer, "redactor">,
): MessageSinks {
  const toShown = (text: string) => cut(redactor().head(text, MAX_MESSAGE_CHARACTERS + 1));
  return {
    onProgress: onProgress === undefined ? null : ({ message, ...progress }) =>
      onProgress({
        ...progress,
        ...(message === undefined ? {} : { message: toShown(message) }),
      }),
    onText: onText === undefined ? null : ({ text, isRestart }) => {
      const pieces = inPieces(redactor().text(text));
      pieces.forEach((piece, at) => onText({ text: piece, isRestart: isRestart && at === 0 }));
    },
    logs: logs === undefined ? null : {
      level: logs.level,
      write: ({ level, data, logger }) =>
        logs.write({
          level,
          data: isNestedTooDeep(data) ? "(nested too deeply)" : short(data, redactor()),
          ...(logger === undefined ? {} : { logger: toShown(logger) }),
        }),
    },
  };
}

/** A part never ends inside a surrogate pair. */
function inPieces(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const piece = text.slice(start, start + MAX_MESSAGE_CHARACTERS);
    const isCut = start + piece.length < text.length && !piece.isWellFormed();
    pieces.push(isCut ? piece.slice(0, -1) : piece);
    start += pieces.at(-1)?.length ?? piece.length;
  }
  return pieces.length === 0 ? [""] : pieces;
}

/** A longer value is replaced by the beginning of its text. */
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
    : `${beginningOf(text, MAX_MESSAGE_CHARACTERS)} (cut)`;
}
