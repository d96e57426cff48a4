import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../../../platform/values/json.ts";

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_.-]*)\}/g;
const WHOLE_PLACEHOLDER = /^\{([A-Za-z_][A-Za-z0-9_.-]*)\}$/;

/** The argument names in a template of any form. */
export function placeholdersOf(template: JsonValue): string[] {
  const text = typeof template === "string" ? template : JSON.stringify(template);
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
}

/**
 * Fills a URL's `{placeholders}`, each value encoded as one piece of a path or query.
 *
 * @throws SwarmError `TOOL_ARGUMENTS_INVALID` for an argument that is missing, that would leave its
 * place in the path (`.` and `..`, which URL parsers resolve even when encoded), or that is not
 * valid in a host.
 */
export function fillUrl(template: string, args: JsonObject): URL {
  const query = template.indexOf("?");
  const filled = template.replace(PLACEHOLDER, (_, name: string, at: number) => {
    const value = argumentText(ownArgument(args, name));
    if (value === undefined) throw invalidArgument(name, "it is required by the URL but missing");
    const isInPath = query < 0 || at < query;
    if (isInPath && /^\.{0,2}$/.test(value)) {
      throw invalidArgument(name, "it is not allowed in a URL path");
    }
    return encodeURIComponent(value);
  });
  if (URL.canParse(filled)) return new URL(filled);
  throw new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    "Cannot send the request: with these arguments its URL has no valid host",
    { hint: "Call the tool again with plain host names, without '/', '@', '#' or a port." },
  );
}

/** Fills a text; undefined if one of its arguments is absent. */
export function fillText(template: string, args: JsonObject): string | undefined {
  const names = placeholdersOf(template);
  if (names.some((name) => argumentText(ownArgument(args, name)) === undefined)) return undefined;
  return template.replace(
    PLACEHOLDER,
    (_, name: string) => argumentText(ownArgument(args, name)) ?? "",
  );
}

/**
 * Fills a JSON document. A string that is one placeholder becomes the argument with its type;
 * members and items whose argument is absent are omitted.
 */
export function fillJson(template: JsonValue, args: JsonObject): JsonValue | undefined {
  if (typeof template === "string") {
    const whole = WHOLE_PLACEHOLDER.exec(template)?.[1];
    return whole === undefined ? fillText(template, args) : ownArgument(args, whole);
  }
  if (typeof template !== "object" || template === null) return template;
  if (Array.isArray(template)) {
    return template.map((item: JsonValue) => fillJson(item, args))
      .filter((item) => item !== undefined);
  }
  return Object.fromEntries(
    Object.entries(template).flatMap(([key, value]) => {
      const filled = fillJson(value, args);
      return filled === undefined ? [] : [[key, filled]];
    }),
  );
}

/** An argument as text; undefined if it is absent or null. */
export function argumentText(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function ownArgument(args: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

function invalidArgument(name: string, reason: string): SwarmError {
  return new SwarmError("TOOL_ARGUMENTS_INVALID", `Cannot use the argument '${name}': ${reason}`, {
    hint: `Call the tool again with another '${name}'.`,
  });
}
