import { type ErrorCode, traitsOf } from "../../errors/codes.ts";
import { knownGoodSentence, newestKnownGood } from "./known_good.ts";
import { type RunningCall, toolNameOf } from "../running_call.ts";

/**
 * Arguments of the failed tool that worked before, in words for the caller's model; undefined where
 * there are none, where they would not help, and in a task, whose agent is told by its loop.
 */
export async function remindOfKnownGood(
  call: RunningCall,
  errorCode: ErrorCode | undefined,
): Promise<string | undefined> {
  const { record, request, ports, redactor } = call;
  const isTask = request.caller.taskId !== null;
  if (isTask || !traitsOf(errorCode).isMendable || !record?.cached) return undefined;
  try {
    const learned = await ports.store.learnedParameters(record.connection.id, toolNameOf(call));
    if (learned === null) return undefined;
    const { inputSchema } = record.cached.schema;
    const sentence = knownGoodSentence(newestKnownGood(learned, inputSchema));
    return sentence === undefined ? undefined : redactor.text(sentence);
  } catch (error) {
    // The answer is told without it.
    ports.log("warn", "tool.reminder_failed", { error: String(error) });
    return undefined;
  }
}
