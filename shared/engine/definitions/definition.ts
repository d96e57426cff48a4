import type { JsonObject } from "../../platform/values/json.ts";

/** What files can define, in the order in which definitions refer to each other. */
export const DEFINITION_KINDS = [
  "tool",
  "skill",
  "agent",
  "schedule",
  "webhook",
  "alert",
  "trigger",
] as const;
/** See {@linkcode DEFINITION_KINDS}. */
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

/** Kinds of which one file, `<kind>s.yaml`, has all definitions by name. */
export const ENTRY_KINDS = ["schedule", "webhook", "alert", "trigger"] as const;
/** See {@linkcode ENTRY_KINDS}. */
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** True if all definitions of the kind are in one file. */
export function isEntryKind(kind: DefinitionKind): kind is EntryKind {
  return (ENTRY_KINDS as readonly DefinitionKind[]).includes(kind);
}

/** One entry of the registry as the database writes and compares it. */
export interface RegistryDefinition {
  readonly kind: DefinitionKind;
  readonly slug: string;
  readonly definition: JsonObject;
}

/** A file of a project; paths are relative to the folder of the definitions. */
export interface DefinitionFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** What is wrong with a value of a file, or with the whole file. */
export interface ValueProblem {
  /** The keys and indexes that lead to the value. */
  readonly at?: readonly PropertyKey[];
  /** The line of the file, counted from 1, where it is known without the value's place. */
  readonly line?: number;
  readonly message: string;
}

/** A problem of one of several files. */
export interface FileProblem extends ValueProblem {
  readonly path: string;
}

/** Writes plain data as YAML. */
export type WriteYaml = (value: unknown) => string;
