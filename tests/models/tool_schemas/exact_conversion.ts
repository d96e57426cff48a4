import { ANNOTATIONS } from "../../../shared/models/tool_schemas/schema_keywords.ts";
import type { SchemaLoss } from "../../../shared/models/tool_schemas/schema_loss.ts";

/**
 * Whether a converted schema refuses everything that the original refuses, by its own loss report.
 */
export function canTellApart(losses: readonly SchemaLoss[]): boolean {
  return losses.every(({ action, keyword }) => {
    switch (action) {
      case "renamed":
      case "not_strict":
      case "removed":
        return true;
      case "described":
        return ANNOTATIONS.has(keyword);
      case "folded":
      case "cut":
      case "widened":
        return false;
    }
  });
}
