import { withoutFenceTags } from "../../gateway/tool_contracts/fence_data.ts";

/**
 * A title or heading as shown next to the fenced text: on one line, and without anything that could
 * be mistaken for the fence's tags.
 */
export function toLabel(text: string): string {
  return withoutFenceTags(text.replace(/[\s\p{Cc}]+/gu, " ").trim());
}
