import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../../platform/values/json.ts";
import { META_PREFIX } from "../../../../tool_contracts/meta_keys.ts";
import {
  atMost,
  choice,
  eachOf,
  flag,
  members,
  numberWithin,
  object,
  type PartReader,
  text,
} from "./parts.ts";
import { promptMessages, resourceContents } from "./read_block.ts";
import { capabilities, implementation, LISTED, RESOURCE } from "./shapes.ts";
import { ownMember } from "../../../../../platform/values/own_member.ts";

/** The caller's `_meta` entry that names what could not be read. */
const LEFT_OUT_KEY = `${META_PREFIX}left_out`;
const MAX_NAMED_PARTS = 100;
/** As the protocol limits them. */
const MAX_COMPLETIONS = 100;

/** Some servers count in numbers. */
const cursor: PartReader = (value) => typeof value === "number" ? String(value) : text(value);

/** Members of every list and resource. An empty cursor means that there is no further page. */
const PAGE = {
  _meta: object,
  nextCursor: cursor,
  ttlMs: numberWithin(0, Number.MAX_SAFE_INTEGER),
  cacheScope: choice("public", "private"),
};
const UNCACHED = { ttlMs: 0, cacheScope: "private" };

const promptArguments = eachOf(
  members({ name: text, description: text, required: flag }, ["name"]),
);

/** A result's members, and what stands for those that are required. */
interface Shape {
  readonly reader: PartReader;
  readonly defaults: JsonObject;
}

function page(name: string, item: PartReader): Shape {
  return {
    reader: members({ ...PAGE, [name]: eachOf(item) }),
    defaults: { [name]: [], ...UNCACHED },
  };
}

const SHAPES: Readonly<Record<string, Shape>> = {
  initialize: {
    reader: members({
      protocolVersion: text,
      capabilities,
      serverInfo: implementation,
      instructions: text,
      _meta: object,
    }),
    defaults: { capabilities: {}, serverInfo: { name: "unnamed", version: "unknown" } },
  },
  "server/discover": {
    reader: members({
      ...PAGE,
      supportedVersions: eachOf(text),
      capabilities,
      instructions: text,
    }),
    defaults: { capabilities: {}, ...UNCACHED },
  },
  // Each definition is read where tools are listed.
  "tools/list": { reader: members(PAGE), defaults: { tools: [], ...UNCACHED } },
  "resources/list": page("resources", members(RESOURCE, ["uri", "name"])),
  "resources/templates/list": page(
    "resourceTemplates",
    members({ ...LISTED, uriTemplate: text, name: text, mimeType: text }, ["uriTemplate", "name"]),
  ),
  "resources/read": page("contents", resourceContents),
  "prompts/list": page(
    "prompts",
    members({ ...LISTED, name: text, arguments: promptArguments }, ["name"]),
  ),
  "prompts/get": {
    reader: members({ _meta: object, description: text, messages: promptMessages }),
    defaults: { messages: [] },
  },
  "completion/complete": {
    reader: members({
      _meta: object,
      completion: members({
        values: atMost(MAX_COMPLETIONS, eachOf(text)),
        total: numberWithin(0, Number.MAX_SAFE_INTEGER),
        hasMore: flag,
      }, ["values"]),
    }),
    defaults: { completion: { values: [] } },
  },
};

/**
 * Any other result as the protocol defines it. Entries and members that cannot be read are left out
 * and named in `_meta`.
 */
export function readOtherResult(method: string, raw: JsonValue, isStateless: boolean): JsonValue {
  const shape = ownMember(SHAPES, method);
  if (shape === undefined || !isJsonObject(raw) || raw.resultType === "input_required") return raw;
  const leftOut: string[] = [];
  const read = shape.reader(raw, "", leftOut);
  if (!isJsonObject(read)) return raw;
  const { resultType: _, ...result } = read;
  const meta = leftOut.length === 0 ? {} : {
    _meta: {
      ...object(read._meta ?? {}),
      [LEFT_OUT_KEY]: leftOut.slice(0, MAX_NAMED_PARTS),
    },
  };
  return {
    ...shape.defaults,
    ...result,
    ...meta,
    ...(isStateless ? { resultType: "complete" } : {}),
  };
}
