import { z } from "../vendor/zod.js";
import type { JsonObject } from "../json.ts";
import { jsonObject } from "../json_schema.ts";

/** Characters that nobody sees, or that change how what stands beside them is shown. */
const HIDDEN_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A tool as its server describes it, in the form of the Model Context Protocol. */
export const toolDefinitionSchema = z.looseObject({
  name: z.string().min(1).max(256)
    .refine((name) => withoutHidden(name) === name, "has characters that are not shown"),
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

/** A name with U+FFFD for each character that is not shown. */
export function withoutHidden(name: string): string {
  return name.replace(HIDDEN_CHARACTERS, "\u{fffd}");
}

/** What a model reads of the tool. */
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
