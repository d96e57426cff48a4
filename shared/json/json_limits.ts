/** How much JSON is read from somebody else. What is beyond is refused before it is parsed. */
export interface JsonLimits {
  /** Of the UTF-8 text. */
  readonly bytes: number;
  /** Levels of arrays and objects inside each other. */
  readonly depth: number;
  /** Names in all objects together, repeated ones counted each time. */
  readonly members: number;
  /** Values in all arrays together. */
  readonly items: number;
}

/** A limit of {@linkcode JsonLimits}, or the length of one name. */
export type JsonLimit = keyof JsonLimits | "name_bytes";

/** Where a document goes beyond a limit. Counting stops there. */
export interface JsonExcess {
  readonly limit: JsonLimit;
  readonly allowed: number;
  /** What had been counted when reading stopped; the whole may be more. */
  readonly found: number;
}

/** Longer member names are not names: nothing that we or a tool declare comes near. */
export const MAX_NAME_BYTES = 65_536;

const MIB = 1_048_576;

/**
 * Parsing, checking, redacting and storing a value that reaches these limits takes one isolate
 * well below 200 ms. Deeper values also break what walks them: our own recursion and the parser of
 * Postgres.
 */
const VALUE = { depth: 200, members: 20_000, items: 50_000 };

/** Bodies that carry one value of a caller: the input of a task, the arguments of a tool. */
export const REQUEST_LIMITS: JsonLimits = { ...VALUE, bytes: MIB };
/** Bodies of a few short fields: grades, OAuth, dates. */
export const FORM_LIMITS: JsonLimits = { bytes: 65_536, depth: 8, members: 100, items: 100 };
/** A message of the Model Context Protocol; its envelope stands around the value. */
export const MESSAGE_LIMITS: JsonLimits = { ...VALUE, bytes: 4 * MIB };
/** Files that the holder of a secret key sends to `quoth-sync`. */
export const FILES_LIMITS: JsonLimits = {
  bytes: 25 * MIB,
  depth: 8,
  members: 20_000,
  items: 5_000,
};
/** A webhook whose signature is right. GitHub sends no larger one; commits and files are lists. */
export const WEBHOOK_LIMITS: JsonLimits = {
  bytes: 25 * MIB,
  depth: 32,
  members: 200_000,
  items: 200_000,
};

/** What a tool answers, over HTTP, MCP or from the database. */
export const ANSWER_LIMITS: JsonLimits = { ...VALUE, bytes: 5 * MIB };
/** A page of a server's tools, whose schemas have many members. */
export const LISTING_LIMITS: JsonLimits = { ...VALUE, members: 60_000, bytes: 5 * MIB };
/** The arguments of one call as a model writes them. */
export const ARGUMENTS_LIMITS: JsonLimits = { ...VALUE, bytes: 5_000_000 };
/** One document of a model's answer: the whole of it, or an event of a stream. */
export const MODEL_LIMITS: JsonLimits = { ...VALUE, depth: 220, bytes: 8 * MIB };
/** What a server reports with an error. */
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
