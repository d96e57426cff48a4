import {
  choice,
  eachOf,
  flag,
  mapOf,
  members,
  numberWithin,
  object,
  type PartReader,
  text,
} from "./parts.ts";

/** RFC 3339, as the protocol requires. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const dateTime: PartReader = (value) =>
  typeof value === "string" && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined;

/** Members that every block may have. */
export const BLOCK_BASE = {
  annotations: members({
    audience: eachOf(choice("user", "assistant")),
    priority: numberWithin(0, 1),
    lastModified: dateTime,
  }),
  _meta: object,
};

const icons = eachOf(members({
  src: text,
  mimeType: text,
  sizes: eachOf(text),
  theme: choice("light", "dark"),
}, ["src"]));

/** Members of everything that a server lists. */
export const LISTED = { title: text, description: text, icons, ...BLOCK_BASE };

/** Members of a resource and of a link to it. */
export const RESOURCE = {
  ...LISTED,
  uri: text,
  name: text,
  mimeType: text,
  size: numberWithin(0, Number.MAX_SAFE_INTEGER),
};

/** A server's name and version. */
export const implementation = members({
  name: text,
  version: text,
  title: text,
  description: text,
  websiteUrl: text,
  icons,
}, ["name", "version"]);

/** `true` stands for a capability without details. */
function capability(readers: Readonly<Record<string, PartReader>> = {}): PartReader {
  const details = members(readers);
  return (value, path, leftOut) => value === true ? {} : details(value, path, leftOut);
}

const detailed = capability({ listChanged: flag, subscribe: flag });
const extensions = mapOf(capability());

/** What a server can do. */
export const capabilities = members({
  tools: detailed,
  resources: detailed,
  prompts: detailed,
  logging: capability(),
  completions: capability(),
  experimental: extensions,
  extensions,
  tasks: capability({
    list: capability(),
    cancel: capability(),
    requests: capability({ tools: capability({ call: capability() }) }),
  }),
});
