import type { z } from "../../vendor/zod.js";
import { describeIssues } from "../values/describe_issues.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { JsonValue } from "../values/json.ts";
import { type JsonExcess, type JsonLimits, REQUEST_LIMITS } from "../json/json_limits.ts";
import { describeExcess, parseJson } from "../json/parse_json.ts";
import { toStorableJson } from "../values/storable_json.ts";
import { readBody } from "./read_body.ts";

/**
 * Reads a request's JSON body and checks it against `schema`. Characters that Postgres cannot hold
 * become U+FFFD.
 *
 * @param limits Limits of the body. @default REQUEST_LIMITS
 * @throws BODY_INVALID if the body exceeds the limits (`details.limit`), is not JSON, or does not
 * match; `details.issues` lists the problems.
 */
export async function parseBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  limits: JsonLimits = REQUEST_LIMITS,
): Promise<T> {
  const body = parseBytes(await readBody(request, limits.bytes), limits);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(parsed.error);
  throw new SwarmError("BODY_INVALID", `Cannot read the body: ${issues.join("; ")}`, {
    hint: "Correct the named fields and send the request again.",
    details: { issues },
  });
}

function parseBytes(bytes: Uint8Array, limits: JsonLimits): JsonValue {
  const parsed = parseJson(bytes, limits);
  switch (parsed.kind) {
    case "json":
      return toStorableJson(parsed.value);
    case "too_large":
      throw bodyTooLarge("the body", parsed.excess);
    case "not_json": {
      const problem = bytes.byteLength === 0 ? "it is empty" : "it is not JSON";
      throw new SwarmError("BODY_INVALID", `Cannot read the body: ${problem}`, {
        cause: parsed.cause,
        hint: "Send a JSON object with content-type application/json.",
      });
    }
  }
}

/** Creates the error for a body that exceeds the limits. */
export function bodyTooLarge(what: string, excess: JsonExcess): SwarmError {
  return new SwarmError("BODY_INVALID", `Cannot read ${what}: ${describeExcess(excess)}`, {
    hint: excess.limit === "digits"
      ? "Send such a number as text."
      : "Send less or flatter data, or put it in Storage and pass its path.",
    details: { ...excess },
  });
}
