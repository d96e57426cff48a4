import type { NameHints } from "../../../platform/values/nearest_names.ts";
import type { JsonValue } from "../../../platform/values/json.ts";

/** A value in its column's type, or the problem with it. */
export type CoercedValue =
  | { readonly kind: "value"; readonly value: JsonValue }
  | { readonly kind: "problem"; readonly message: string };

/** A type with the additional data that its values depend on. */
export interface ValueType {
  /** As PostgreSQL writes it. */
  readonly type: string;
  /** Null for other types than enums. */
  readonly labels: EnumLabels | null;
}

/** The values of an enum, prepared for many comparisons. */
export interface EnumLabels {
  readonly all: ReadonlySet<string>;
  /** Ignoring case and separators. */
  readonly byPlainText: ReadonlyMap<string, readonly string[]>;
}

const INTEGER_BITS: Readonly<Record<string, bigint>> = { smallint: 15n, integer: 31n, bigint: 63n };
const MAX_DIGITS = 20;
const TRUE: ReadonlySet<string> = new Set(["true", "t", "yes", "y", "on", "1"]);
const FALSE: ReadonlySet<string> = new Set(["false", "f", "no", "n", "off", "0"]);

/**
 * Converts a value to its column's type if only one meaning is possible: numbers and booleans
 * written as text, enums in another case, numbers for texts. The database validates unknown types.
 */
export function coerceValue(
  value: JsonValue,
  { type, labels }: ValueType,
  hints: NameHints,
): CoercedValue {
  if (value === null) return { kind: "value", value };
  if (labels !== null) return coerceEnum(value, labels, hints);
  const base = type.replace(/\(.*\)/, "");
  switch (base) {
    case "smallint":
    case "integer":
    case "bigint":
      return coerceInteger(value, base);
    case "numeric":
    case "real":
    case "double precision":
      return coerceNumber(value, type);
    case "boolean":
      return coerceBoolean(value);
    case "uuid":
      return matching(value, /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i, "a UUID");
    case "date":
      return coerceTime(value, /^\d{4}-\d\d-\d\d$/, "a date such as 2026-01-31");
    case "timestamp without time zone":
    case "timestamp with time zone":
      return coerceTime(
        value,
        /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|[+-]\d\d(:?\d\d)?))?)?$/,
        "a time such as 2026-01-31T12:00:00Z",
      );
    case "text":
    case "character varying":
    case "character":
      return coerceText(value, type);
    default:
      return { kind: "value", value };
  }
}

/** Prepares an enum's values for {@linkcode coerceValue}. */
export function toEnumLabels(values: readonly string[]): EnumLabels {
  return { all: new Set(values), byPlainText: Map.groupBy(values, plain) };
}

function coerceEnum(
  value: JsonValue,
  { all, byPlainText }: EnumLabels,
  hints: NameHints,
): CoercedValue {
  const text = typeof value === "object" ? "" : String(value);
  if (all.has(text)) return { kind: "value", value: text };
  const [found, ...others] = byPlainText.get(plain(text)) ?? [];
  if (found !== undefined && others.length === 0) return { kind: "value", value: found };
  const nearest = hints.nearest(text, all);
  const listed = nearest.length > 0 ? nearest : [...all.values().take(MAX_LISTED)];
  return problem(value, `one of ${listed.map((name) => JSON.stringify(name)).join(", ")}`);
}

function coerceInteger(value: JsonValue, type: string): CoercedValue {
  const text = typeof value === "number" || typeof value === "string" ? String(value).trim() : "";
  const digits = /^[+-]?\d+(\.0+)?$/.exec(text) === null ? null : text.replace(/\.0+$/, "");
  if (digits === null) return problem(value, "a whole number");
  // Reading a number of a million digits takes long.
  const significant = digits.replace(/^[+-]?0*/, "").length;
  if (significant > MAX_DIGITS) return problem(value, `a number that fits ${type}`);
  const number = BigInt(digits.replace(/^\+/, ""));
  const limit = 1n << (INTEGER_BITS[type] ?? 63n);
  if (number >= limit || number < -limit) return problem(value, `a number that fits ${type}`);
  return { kind: "value", value: String(number) };
}

function coerceNumber(value: JsonValue, type: string): CoercedValue {
  const text = typeof value === "number" || typeof value === "string" ? String(value).trim() : "";
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return problem(value, "a number");
  const [, precision, scale = "0"] = /\((\d+)(?:,(\d+))?\)/.exec(type) ?? [];
  const whole = Number(precision ?? Infinity) - Number(scale);
  if (Math.abs(Number(text)) >= 10 ** whole) return problem(value, `a number that fits ${type}`);
  return { kind: "value", value: text };
}

function coerceBoolean(value: JsonValue): CoercedValue {
  if (typeof value === "boolean") return { kind: "value", value };
  const text = String(value).trim().toLowerCase();
  if (TRUE.has(text)) return { kind: "value", value: true };
  return FALSE.has(text) ? { kind: "value", value: false } : problem(value, "true or false");
}

function coerceTime(value: JsonValue, form: RegExp, wanted: string): CoercedValue {
  const text = typeof value === "string" ? value.trim() : "";
  if (!form.test(text)) return problem(value, wanted);
  const day = text.slice(0, 10);
  const parsed = new Date(`${day}T00:00:00Z`);
  // February 30 is well-formed but not a date.
  const isDay = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
  return isDay ? { kind: "value", value: text } : problem(value, wanted);
}

function coerceText(value: JsonValue, type: string): CoercedValue {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const most = Number(/\((\d+)\)/.exec(type)?.[1] ?? Infinity);
  if ([...text].length > most) return problem(value, `a text of at most ${most} characters`);
  return text.includes("\u0000")
    ? problem(value, "a text without the character U+0000")
    : { kind: "value", value: text };
}

function matching(value: JsonValue, form: RegExp, wanted: string): CoercedValue {
  return typeof value === "string" && form.test(value.trim())
    ? { kind: "value", value: value.trim() }
    : problem(value, wanted);
}

const SHOWN_CHARACTERS = 60;
/** Maximum number of listed values of an enum. */
const MAX_LISTED = 20;

function problem(value: JsonValue, wanted: string): CoercedValue {
  const shown = JSON.stringify(value);
  const cut = shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}…` : shown;
  return { kind: "problem", message: `${cut} is not ${wanted}.` };
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
