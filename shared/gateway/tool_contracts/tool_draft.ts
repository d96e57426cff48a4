import type { JsonObject } from "../../platform/values/json.ts";

/** A definition that may differ from the saved one, or that is not saved. */
export interface ToolDraft {
  /** How it would be saved: as a definition of agents/tools or as the setting of an MCP server. */
  readonly kind: "tool" | "server";
  /** As `operator_save_definition()` takes it. */
  readonly definition: JsonObject;
}
