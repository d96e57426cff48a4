import { MAX_JSON_DEPTH } from "../values/json_depth.ts";

/** Limits for untrusted JSON. Larger documents are rejected before they are parsed. */
export interface JsonLimits {
  /** Of the UTF-8 text, with each number as long as without its exponent. */
  readonly bytes: number;
  /** Levels of nested arrays and objects. */
  readonly depth: number;
  /** Names in all objects together, repeated ones counted each time. */
  readonly members: number;
  /** Values in all arrays together. */
  readonly items: number;
  /**
   * Digits of a whole number. Longer ones are accepted only if programs, which have floating-point
   * numbers, do not round them: a rounded id is another one. @default no limit
   */
  readonly digits?: number;
  /** Events of a stream together; each is a document of its own. @default no limit */
  readonly events?: number;
}

/** A limit of {@linkcode JsonLimits}, or the length of one name. */
export type JsonLimit = keyof JsonLimits | "name_bytes";

/** The exceeded limit of a document. Counting stops there. */
export interface JsonExcess {
  readonly limit: JsonLimit;
  readonly allowed: number;
  /** The count when reading stopped; the total may be higher. */
  readonly found: number;
}

/** Longer member names are rejected: no declared name is nearly as long. */
export const MAX_NAME_BYTES = 65_536;

const MIB = 1_048_576;

/**
 * Parsing, checking, redacting and storing a value that reaches these limits takes one isolate well
 * below 200 ms.
 */
const VALUE = { depth: MAX_JSON_DEPTH, members: 20_000, items: 50_000 };
/** Levels of the envelope around a value: of a body, and of a message or answer over MCP. */
const BODY = { depth: MAX_JSON_DEPTH + 1 };
const MESSAGE = { depth: MAX_JSON_DEPTH + 2 };
/** All whole numbers of so many digits are exact. */
const EXACT = { digits: 15 };

/** Bodies with one value of a caller: the input of a task, the arguments of a tool. */
export const REQUEST_LIMITS: JsonLimits = { ...VALUE, ...BODY, ...EXACT, bytes: MIB };
/** Bodies of a few short fields: grades, OAuth, dates. */
export const FORM_LIMITS: JsonLimits = { bytes: 65_536, depth: 8, members: 100, items: 100 };
/** A message of the Model Context Protocol: the value plus its envelope. */
export const MESSAGE_LIMITS: JsonLimits = { ...VALUE, ...MESSAGE, ...EXACT, bytes: 4 * MIB };
/** Files that the holder of a secret key sends to `quoth-sync`. */
export const FILES_LIMITS: JsonLimits = {
  bytes: 25 * MIB,
  depth: 8,
  members: 20_000,
  items: 5_000,
};
/**
 * A webhook with a valid signature. GitHub does not send larger ones; commits and files are lists.
 */
export const WEBHOOK_LIMITS: JsonLimits = {
  bytes: 25 * MIB,
  depth: 32,
  members: 200_000,
  items: 200_000,
};

/**
 * A tool's answer, over HTTP, MCP or from the database. Ten thousand notifications on its way take
 * an isolate about 300 ms.
 */
export const ANSWER_LIMITS: JsonLimits = { ...VALUE, bytes: 5 * MIB, events: 10_000 };
/** The same in a message of the Model Context Protocol. */
export const MESSAGE_ANSWER_LIMITS: JsonLimits = { ...ANSWER_LIMITS, ...MESSAGE };
/** A page of a server's tools, whose schemas have many members. */
export const LISTING_LIMITS: JsonLimits = {
  ...ANSWER_LIMITS,
  depth: MAX_JSON_DEPTH + 4,
  members: 60_000,
};
/** A result that a model wrote as text, or a guardrail's verdict. */
export const RESULT_LIMITS: JsonLimits = { ...VALUE, bytes: 5_000_000 };
/** The arguments of one call, written by a model. */
export const ARGUMENTS_LIMITS: JsonLimits = { ...RESULT_LIMITS, ...EXACT };
/** One document of a model's answer: the whole of it, or an event of a stream. */
export const MODEL_LIMITS: JsonLimits = { ...VALUE, depth: MAX_JSON_DEPTH + 20, bytes: 8 * MIB };
/** Details in a server's error. */
export const REPORT_LIMITS: JsonLimits = {
  bytes: 262_144,
  depth: 32,
  members: 5_000,
  items: 5_000,
};
/** Metadata, tokens and registrations of an authorization server. */
export const OAUTH_LIMITS: JsonLimits = { bytes: 262_144, depth: 16, members: 5_000, items: 5_000 };
/** Vectors: a hundred of 3,072 numbers, a little more than that. */
export const EMBEDDING_LIMITS: JsonLimits = {
  bytes: 32 * MIB,
  depth: 16,
  members: 50_000,
  items: 500_000,
};
/** A tree of a repository, which may have 100,000 entries. */
export const TREE_LIMITS: JsonLimits = {
  bytes: 32 * MIB,
  depth: 16,
  members: 1_000_000,
  items: 200_000,
};
/** A syntax tree that the SQL parser prints; an operator is two levels, a sub-query about ten. */
export const SYNTAX_TREE_LIMITS: JsonLimits = {
  bytes: 8 * MIB,
  depth: 1_000,
  members: 200_000,
  items: 50_000,
};
