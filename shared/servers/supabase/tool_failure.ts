import { z } from "../../vendor/zod.js";
import { textBlock } from "../../platform/values/content_block.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import type { SwarmError } from "../../platform/errors/swarm_error.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { reply, type ToolReply } from "../../gateway/tool_contracts/internal_server.ts";
import { withHint } from "../../platform/errors/with_hint.ts";

/** An error in the structured content of an answer. */
export const toolError = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  details: jsonValue.optional(),
});

/** A tool error with the members of the tool's normal answer, and its `_meta`. */
export function toolFailure(
  { code, message, hint, details }: SwarmError,
  answer: JsonObject,
  meta: JsonObject,
): ToolReply {
  const extras = definedOnly({ hint, details });
  return reply([textBlock(withHint(message, hint))], {
    isError: true,
    errorCode: code,
    ...extras,
    structured: { ...answer, error: { code, message, ...extras } },
    meta,
  });
}
