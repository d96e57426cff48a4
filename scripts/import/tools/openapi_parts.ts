import { fragmentNames } from "../../../shared/platform/values/json_pointer.ts";

/** Parts of a document that may be absent, null or of another type than they should be. */
export type Part = Readonly<Record<string, unknown>>;

/** An object; empty if the value is none. */
export function partOf(value: unknown): Part {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Part : {};
}

/** A list; empty if the value is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text; empty if the value is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : "";
}

const MAX_REFERENCES = 32;

/**
 * What a part is after its local references, with the siblings of each; empty if a reference is
 * dangling, to another document, or circular.
 */
export function resolved(document: Part, value: unknown): Part {
  let part = partOf(value);
  for (let count = 0; count < MAX_REFERENCES; count++) {
    const { $ref: reference, ...siblings } = part;
    if (reference === undefined || reference === null) return siblings;
    part = { ...partOf(target(document, textOf(reference))), ...siblings };
  }
  return {};
}

/** The value that a local reference such as `#/components/schemas/Pet` names; undefined if none. */
export function target(document: Part, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  return fragmentNames(reference).reduce<unknown>((value, key) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    return Reflect.get(value, key);
  }, document);
}
