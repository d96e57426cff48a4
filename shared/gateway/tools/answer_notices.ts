import { textBlock } from "../../platform/values/content_block.ts";
import type { Redactor } from "../../platform/secrets/redact.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";
import type { Answered, ServerAnswer } from "../tool_contracts/tool_server.ts";
import type { AdmittedCall } from "./call_stages.ts";
import { renewListing } from "./listing/renew_listing.ts";
import { FIRST_LIST_WAIT_MS } from "./look_up_call.ts";

/**
 * Adds notices for the caller's model to an answer: dropped arguments, and how the tool has changed
 * if its server no longer accepts the tool or argument.
 *
 * @throws the reason of an aborted signal.
 */
export async function withNotices(
  call: AdmittedCall,
  answer: ServerAnswer,
  redactor: Redactor,
): Promise<ServerAnswer> {
  if (answer.kind !== "answered") return answer;
  const isStale = answer.isDefinitionStale === true;
  const current = isStale ? await withNewDefinition(call, answer, redactor) : answer;
  return withNotice(current, call.notice);
}

/** The answer's text and blocks are read by different callers. */
function withNotice(answer: Answered, notice: string | null): Answered {
  if (notice === null) return answer;
  const { text, content = [textBlock(text)] } = answer;
  return { ...answer, text: `${text}\n\n${notice}`, content: [...content, textBlock(notice)] };
}

/** Lists the server's tools again. */
async function withNewDefinition(
  { request: { server, toolName, caller: asked }, caller, record, ports, signal }: AdmittedCall,
  answer: Answered,
  redactor: Redactor,
): Promise<Answered> {
  try {
    const wait = { waitMs: FIRST_LIST_WAIT_MS, signal };
    await renewListing(record, caller.userId, ports, wait);
    const key = { server, toolName, caller: asked, isCharged: false };
    const renewed = await ports.store.beginCall(key);
    return withNotice(answer, noticeOf(record, renewed));
  } catch (error) {
    signal.throwIfAborted();
    const reason = redactor.text(String(error));
    ports.log("warn", "tool.listing_failed", { server, error: reason });
    return answer;
  }
}

function noticeOf(old: CallRecord, renewed: CallRecord | null): string | null {
  if (renewed === null) return null;
  if (renewed.cached === null) {
    return `The server now has these tools: ${renewed.tool_names.join(", ")}`;
  }
  if (renewed.cached.state !== "approved") {
    return "The server has changed the tool, and the change is not approved yet: use another one.";
  }
  const now = JSON.stringify(renewed.cached.schema.inputSchema);
  const isSame = now === JSON.stringify(old.cached?.schema.inputSchema);
  return isSame ? null : `The tool has changed. Its arguments now: ${now}`;
}
