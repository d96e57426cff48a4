import { z } from "../../vendor/zod.js";
import type { JsonObject } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";

/** Characters that are invisible or change how adjacent text is displayed. */
const HIDDEN_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A tool as described by its server, in the form of the Model Context Protocol. */
export const toolDefinitionSchema = z.looseObject({
  name: z.string().min(1).max(256)
    .refine((name) => withoutHidden(name) === name, "has invisible characters"),
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
  /** The catalog version of the tool, if its server versions tools. */
  readonly version?: string | undefined;
}

/** A name with U+FFFD for each invisible character. */
export function withoutHidden(name: string): string {
  return name.replace(HIDDEN_CHARACTERS, "\u{fffd}");
}

/** The description that a model sees. */
export function descriptionOf({ name, title, description }: ToolDefinition): string {
  return description ?? title ?? name;
}

/** The definition without the hints that decide whether a call may be repeated. */
export function withoutHints(definition: ToolDefinition): ToolDefinition {
  const { readOnlyHint: _, idempotentHint: __, ...annotations } = definition.annotations ?? {};
  return { ...definition, annotations };
}

/** Whether a call can be repeated safely, according to the server's hints. */
export function isRepeatable(definition: ToolDefinition): boolean {
  return isReadOnly(definition) || definition.annotations?.idempotentHint === true;
}

/** Whether a call is read-only, according to the server's hints. */
export function isReadOnly(definition: ToolDefinition): boolean {
  return definition.annotations?.readOnlyHint === true;
}
