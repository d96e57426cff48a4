import { isJsonObject, type JsonValue } from "../../../shared/platform/values/json.ts";

/** The values that the placeholders of one answer name, by their first word. */
export type PlaceholderValues = ReadonlyMap<string, JsonValue>;

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** Finds the placeholders in all texts of a value, such as `input.topic` for `{{input.topic}}`. */
export function placeholdersOf(value: JsonValue): string[] {
  if (typeof value === "string") {
    return [...value.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(placeholdersOf);
}

/**
 * Replaces the placeholders in all texts of a value. A text that is one placeholder becomes the
 * named value itself, of whatever type.
 *
 * @throws MissingValue when a placeholder names nothing.
 */
export function fillPlaceholders(value: JsonValue, values: PlaceholderValues): JsonValue {
  if (Array.isArray(value)) return value.map((item) => fillPlaceholders(item, values));
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, fillPlaceholders(item, values)]),
    );
  }
  if (typeof value !== "string") return value;
  const [only, ...others] = value.matchAll(PLACEHOLDER);
  if (only?.[0] === value && others.length === 0) return valueOf(only[1] ?? "", values);
  return fillText(value, values);
}

/**
 * Replaces the placeholders in a text; a value that is not text is written as JSON.
 *
 * @throws MissingValue when a placeholder names nothing.
 */
export function fillText(text: string, values: PlaceholderValues): string {
  return text.replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = valueOf(name, values);
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

/** A placeholder that names nothing. */
export class MissingValue extends Error {}

function valueOf(name: string, values: PlaceholderValues): JsonValue {
  const [root = "", ...steps] = name.split(".");
  let value = values.get(root);
  let path = root;
  for (const step of steps) {
    const isNamed = typeof value === "object" && value !== null && Object.hasOwn(value, step);
    const next: JsonValue | undefined = isNamed ? Reflect.get(Object(value), step) : undefined;
    if (next === undefined) {
      throw new MissingValue(`{{${name}}}: ${path} is ${describe(value)}, without ${step}`);
    }
    [value, path] = [next, `${path}.${step}`];
  }
  if (value === undefined) throw new MissingValue(`{{${name}}}: there is no ${root}`);
  return value;
}

function describe(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}
