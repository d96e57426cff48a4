import { canonicalJson } from "../../../../shared/platform/values/canonical_json.ts";
import type { JsonValue } from "../../../../shared/platform/values/json.ts";
import type { Json } from "../../../../client/mod.ts";
import { readableJson } from "../../format/json_text.ts";
import { withoutFences } from "../../format/untrusted_text.ts";

/** A value as text that can be compared: JSON with sorted names, so that only values differ. */
export function valueText(value: Json): string {
  return withoutFences(
    typeof value === "string" ? value : readableJson(JSON.parse(canonicalJson(value as JsonValue))),
  );
}
