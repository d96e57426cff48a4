import type { z } from "zod";
import { SwarmError } from "../errors/swarm_error.ts";
import { describeIssues } from "../describe_issues.ts";
import type { JsonValue } from "../json.ts";
import { isNestedTooDeep } from "../json_depth.ts";
import { toStorableJson } from "../storable_json.ts";
import { readBody } from "./read_body.ts";

/** Largest request body that is read, unless a door says otherwise. */
const MAX_BODY_BYTES = 1_048_576;

/**
 * Reads a request's JSON body and checks it against `schema`. Characters that Postgres cannot hold
 * become U+FFFD.
 *
 * @throws BODY_INVALID when the body is too large or deep, not JSON, or does not fit; `details.issues`
 * lists each place that is wrong.
 */
export async function parseBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  { maxBytes = MAX_BODY_BYTES }: { readonly maxBytes?: number } = {},
): Promise<T> {
  const body = parseJson(new TextDecoder().decode(await readBody(request, maxBytes)));
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(parsed.error);
  throw new SwarmError("BODY_INVALID", `Cannot read the body: ${issues.join("; ")}`, {
    hint: "Correct the named fields and send the request again.",
    details: { issues },
  });
}

function parseJson(text: string): unknown {
  try {
    const body: JsonValue = JSON.parse(text);
    if (!isNestedTooDeep(body)) return toStorableJson(body);
  } catch (cause) {
    const problem = text.trim() === "" ? "it is empty" : "it is not JSON";
    throw new SwarmError("BODY_INVALID", `Cannot read the body: ${problem}`, {
      cause,
      hint: "Send a JSON object with content-type application/json.",
    });
  }
  throw new SwarmError("BODY_INVALID", "Cannot read the body: it is nested too deep", {
    hint: "Send flatter data, or put it in Storage and pass its path.",
  });
}
