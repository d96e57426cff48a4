import { type ErrorCode, traitsOf } from "../../../platform/errors/codes.ts";
import { knownGoodSentence, newestKnownGood } from "./known_good.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import type { Redactor } from "../../../platform/secrets/redact.ts";
import type { CallRecord } from "../../tool_contracts/tool_records.ts";
import type { ToolStore } from "../../tool_contracts/tool_store.ts";

/** A call that has failed outside a task. */
export interface CallToRemindOf {
  /** The tool's own name. */
  readonly toolName: string;
  /** The data read for the call; null if reading failed. */
  readonly record: CallRecord | null;
  readonly redactor: Redactor;
  readonly ports: { readonly store: Pick<ToolStore, "learnedParameters">; readonly log: Logger };
}

/**
 * Known-good arguments of the failed tool as text for the caller's model; undefined if there are
 * none, or if they would not help.
 */
export async function remindOfKnownGood(
  { toolName, record, redactor, ports }: CallToRemindOf,
  errorCode: ErrorCode | undefined,
): Promise<string | undefined> {
  if (!traitsOf(errorCode).isMendable || !record?.cached) return undefined;
  try {
    const learned = await ports.store.learnedParameters(record.connection.id, toolName);
    if (learned === null) return undefined;
    const { inputSchema } = record.cached.schema;
    const sentence = knownGoodSentence(newestKnownGood(learned, inputSchema));
    return sentence === undefined ? undefined : redactor.text(sentence);
  } catch (error) {
    // The answer is returned without it.
    ports.log("warn", "tool.reminder_failed", { error: String(error) });
    return undefined;
  }
}
