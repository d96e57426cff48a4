import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../../platform/values/json.ts";
import { NUMBERS_AS_TEXT } from "../../../../tool_contracts/exact_structure.ts";
import { kindOfPart, object, readPart, text } from "./parts.ts";
import { readBlocks } from "./read_block.ts";

/** More parts are only counted. */
const MAX_NAMED_PARTS = 10;
const MAX_NAMED_CHARACTERS = 200;

/** How a result arrived. */
export interface ResultForm {
  /** With the stateless protocol, whose results say their type. */
  readonly isStateless: boolean;
  /** Numbers that programs round were replaced by their text. */
  readonly hasNumbersAsText: boolean;
}

/**
 * The result of a tool call as the protocol defines it, from whatever a server sent as its result.
 * A part that cannot be read is kept as text where it can be; a block at the end names it.
 */
export function readCallResult(raw: JsonValue, form: ResultForm): JsonObject {
  const leftOut: string[] = [];
  const given = asResult(raw, leftOut);
  const { content, structuredContent, isError, _meta, resultType, ...others } = given;
  const asking = form.isStateless && resultType === "input_required"
    ? askingOf(others, _meta, leftOut)
    : null;
  if (asking !== null) return asking;
  if (resultType !== undefined && resultType !== null && resultType !== "complete") {
    leftOut.push(`resultType is ${kindOfPart(resultType)}`);
  }
  const blocks = readBlocks(content, "content", leftOut);
  const structured = structuredOf(structuredContent, form, leftOut);
  const meta = readPart(_meta, object, "_meta", leftOut);
  const isEmpty = content === undefined && structured === undefined;
  if (isEmpty && Object.keys(others).length > 0) {
    leftOut.push("content is missing, all other members are shown as text");
    blocks.push({ type: "text", text: JSON.stringify(others) });
  }
  const failed = isErrorOf(isError, leftOut);
  if (leftOut.length > 0) blocks.push({ type: "text", text: noteOf(leftOut) });
  return {
    ...others,
    resultType: "complete",
    content: blocks,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(failed === undefined ? {} : { isError: failed }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/** A value that is no result stands for its content. */
function asResult(raw: JsonValue, leftOut: string[]): JsonObject {
  if (isJsonObject(raw)) return raw;
  if (raw !== null) return { content: raw };
  leftOut.push("the result is null or missing");
  return {};
}

/** A request for input that names nothing to ask for is an answer without one. */
function askingOf(
  { inputRequests, requestState, ...others }: JsonObject,
  meta: JsonValue | undefined,
  leftOut: string[],
): JsonObject | null {
  const requests = readPart(inputRequests, object, "inputRequests", leftOut);
  const state = readPart(requestState, text, "requestState", leftOut);
  const hasRequests = isJsonObject(requests) && Object.keys(requests).length > 0;
  if (!hasRequests && state === undefined) return null;
  const ownMeta = readPart(meta, object, "_meta", leftOut);
  return {
    ...others,
    resultType: "input_required",
    ...(hasRequests ? { inputRequests: requests } : {}),
    ...(state === undefined ? {} : { requestState: state }),
    ...(ownMeta === undefined ? {} : { _meta: ownMeta }),
  };
}

function structuredOf(
  given: JsonValue | undefined,
  { isStateless, hasNumbersAsText }: ResultForm,
  leftOut: string[],
): JsonValue | undefined {
  if (given === undefined || given === null) return undefined;
  if (hasNumbersAsText) {
    leftOut.push(NUMBERS_AS_TEXT);
  }
  if (isStateless || isJsonObject(given)) return given;
  // The earlier protocol has only objects; the SDK's own servers wrap other values like this.
  leftOut.push(`structuredContent is ${kindOfPart(given)}, given as the member 'result'`);
  return { result: given };
}

const SAID_ERROR: ReadonlyMap<JsonValue, boolean> = new Map<JsonValue, boolean>([
  [true, true],
  [false, false],
  ["true", true],
  ["false", false],
  [1, true],
  [0, false],
]);

function isErrorOf(given: JsonValue | undefined, leftOut: string[]): boolean | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== "boolean") leftOut.push(`isError is ${kindOfPart(given)}`);
  return SAID_ERROR.get(given);
}

function noteOf(leftOut: readonly string[]): string {
  const named = leftOut.slice(0, MAX_NAMED_PARTS)
    .map((part) => part.slice(0, MAX_NAMED_CHARACTERS));
  const others = leftOut.length - named.length;
  const rest = others === 0 ? "" : `; and ${others} more`;
  return `(Note on this answer: ${named.join("; ")}${rest}.)`;
}
