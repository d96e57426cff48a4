import { z } from "../vendor/zod.js";
import type { JsonObject } from "../json.ts";
import { jsonObject } from "../json_schema.ts";

/** A tool as its server describes it, in the form of the Model Context Protocol. */
export const toolDefinitionSchema = z.looseObject({
  name: z.string().min(1).max(256),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: jsonObject,
  outputSchema: jsonObject.optional(),
  annotations: z.looseObject({
    readOnlyHint: z.boolean().optional(),
    destructiveHint: z.boolean().optional(),
    idempotentHint: z.boolean().optional(),
    openWorldHint: z.boolean().optional(),
  }).optional(),
});

/** See {@linkcode toolDefinitionSchema}. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  readonly annotations?: {
    readonly readOnlyHint?: boolean | undefined;
    readonly idempotentHint?: boolean | undefined;
    readonly openWorldHint?: boolean | undefined;
  } | undefined;
  /** The catalogue's version of the tool, where its server versions tools. */
  readonly version?: string | undefined;
}

/** What a model is told of the tool. */
export function descriptionOf({ name, title, description }: ToolDefinition): string {
  return description ?? title ?? name;
}

/** The definition without the hints that decide what may be repeated. */
export function withoutHints(definition: ToolDefinition): ToolDefinition {
  const { readOnlyHint: _, idempotentHint: __, ...annotations } = definition.annotations ?? {};
  return { ...definition, annotations };
}

/** Whether a call can be repeated without harm, by what the server says of the tool. */
export function isRepeatable(definition: ToolDefinition): boolean {
  return isReadOnly(definition) || definition.annotations?.idempotentHint === true;
}

/** Whether a call changes nothing, by what the server says of the tool. */
export function isReadOnly(definition: ToolDefinition): boolean {
  return definition.annotations?.readOnlyHint === true;
}
