import type { z } from "../../vendor/zod.js";
import { describeIssues } from "../values/describe_issues.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { JsonValue } from "../values/json.ts";
import { type JsonExcess, type JsonLimits, REQUEST_LIMITS } from "../json/json_limits.ts";
import { describeExcess, parseJson } from "../json/parse_json.ts";
import { pathOfNul, toStorableJson } from "../values/storable_json.ts";
import { readBody } from "./read_body.ts";

/** The code of the error for the character U+0000 at a path of the body. */
export type CodeOfNul = (path: string) => ErrorCode;

/**
 * Reads a request's JSON body and checks it against `schema`. Unpaired surrogates become U+FFFD.
 *
 * @param limits Limits of the body. @default REQUEST_LIMITS
 * @param codeOfNul The code of the error for U+0000. @default BODY_INVALID
 * @throws BODY_INVALID if the body exceeds the limits (`details.limit`), is not JSON, contains U+0000
 * (`details.path`), or does not match; `details.issues` lists the problems.
 */
export async function parseBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  limits: JsonLimits = REQUEST_LIMITS,
  codeOfNul?: CodeOfNul,
): Promise<T> {
  const body = parseBytes(await readBody(request, limits.bytes), limits, codeOfNul);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(parsed.error);
  throw new SwarmError("BODY_INVALID", `Cannot read the body: ${issues.join("; ")}`, {
    hint: "Correct the named fields and send the request again.",
    details: { issues },
  });
}

function parseBytes(bytes: Uint8Array, limits: JsonLimits, codeOfNul?: CodeOfNul): JsonValue {
  const parsed = parseJson(bytes, limits);
  switch (parsed.kind) {
    case "json":
      assertWithoutNul(parsed.value, "the body", codeOfNul);
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

/** @throws the code of its place for the character U+0000; `details.path` says where. */
export function assertWithoutNul(
  value: JsonValue,
  what: string,
  codeOfNul: CodeOfNul = () => "BODY_INVALID",
): void {
  const path = pathOfNul(value);
  if (path === null) return;
  throw new SwarmError(
    codeOfNul(path),
    `Cannot read ${what}: ${path || "the text"} contains the character U+0000, which PostgreSQL ` +
      "cannot store",
    { hint: "Remove the character and send the request again.", details: { path } },
  );
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
