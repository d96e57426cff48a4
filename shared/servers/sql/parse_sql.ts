import { Buffer } from "node:buffer";
import { brotliDecompressSync } from "node:zlib";
import { SYNTAX_TREE_LIMITS } from "../../platform/json/json_limits.ts";
import { describeExcess, parseJson } from "../../platform/json/parse_json.ts";
import { lazily } from "../../platform/values/lazily.ts";
import { codeUnitIndex } from "./code_unit_index.ts";
import type { RawStatement } from "./syntax_tree.ts";

/** A text with a PostgreSQL syntax error. */
export class SqlSyntaxError extends Error {
  override readonly name = "SqlSyntaxError";

  /** @param position Of the error, as an index into the text's UTF-16 code units. */
  constructor(message: string, readonly position: number) {
    super(message);
  }
}

/** A text that exceeds the parser's limits, although it may be correct. */
export class SqlTooComplexError extends Error {
  override readonly name = "SqlTooComplexError";
}

/** The functions of the emscripten module used for parsing. */
interface ParserInstance {
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, pointer: number, maxBytes: number): void;
  UTF8ToString(pointer: number): string;
  getValue(pointer: number, type: "i32"): number;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _wasm_parse_query_raw(text: number): number;
  _wasm_free_parse_result(result: number): void;
}

interface InstanceOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance) => void,
  ): void;
}

/** Offsets of 32-bit fields in libpg_query's `PgQueryParseResult` and `PgQueryError`. */
const RESULT = { tree: 0, error: 8 } as const;
const ERROR = { message: 0, cursorPosition: 16 } as const;

/** The parser's error message when its stack overflows. */
const STACK_EXHAUSTED = /stack depth limit|memory exhausted|out of memory/i;

/** The parser of this isolate. Its module, about 270 kB, is loaded on first use. */
const parserOfIsolate = lazily(() => new PostgresParser());

/**
 * The statements of a text in the grammar of PostgreSQL 17, without empty ones.
 *
 * @throws SqlSyntaxError if the text has a syntax error.
 * @throws SqlTooComplexError if the text is nested too deeply or has too many parts.
 */
export function parseSql(text: string): Promise<readonly RawStatement[]> {
  return parserOfIsolate().parse(text);
}

/** Keeps one instance of the parser, and replaces it after a text that exhausted it. */
class PostgresParser {
  #module: WebAssembly.Module | null = null;
  #instance: ParserInstance | null = null;

  async parse(text: string): Promise<readonly RawStatement[]> {
    const instance = this.#instance ??= await this.#instantiate();
    try {
      return parseWith(instance, text);
    } catch (error) {
      if (error instanceof SqlSyntaxError || error instanceof SqlTooComplexError) throw error;
      // The stack or the memory was exhausted, so the state of the instance is undefined.
      this.#instance = null;
      throw new SqlTooComplexError("The statement is nested too deeply", { cause: error });
    }
  }

  async #instantiate(): Promise<ParserInstance> {
    const { default: create, wasmBrotliBase64 } = await import("../../vendor/libpg_query.js");
    const compiled = this.#module ??= await WebAssembly.compile(unpack(wasmBrotliBase64));
    const options: InstanceOptions = {
      instantiateWasm: (imports, receive) => receive(new WebAssembly.Instance(compiled, imports)),
    };
    return await create(options);
  }
}

/** No stream, because the edge runtime's Deno cannot decompress Brotli with one. */
function unpack(base64: string) {
  return new Uint8Array(brotliDecompressSync(Buffer.from(base64, "base64")));
}

function parseWith(parser: ParserInstance, text: string): readonly RawStatement[] {
  const bytes = parser.lengthBytesUTF8(text) + 1;
  const pointer = parser._malloc(bytes);
  parser.stringToUTF8(text, pointer, bytes);
  const result = parser._wasm_parse_query_raw(pointer);
  try {
    const error = parser.getValue(result + RESULT.error, "i32");
    if (error !== 0) throw syntaxError(parser, error, text);
    return readTree(parser.UTF8ToString(parser.getValue(result + RESULT.tree, "i32")));
  } finally {
    parser._free(pointer);
    parser._wasm_free_parse_result(result);
  }
}

function syntaxError(
  parser: ParserInstance,
  error: number,
  text: string,
): SqlSyntaxError | SqlTooComplexError {
  const message = parser.UTF8ToString(parser.getValue(error + ERROR.message, "i32"));
  if (STACK_EXHAUSTED.test(message)) return new SqlTooComplexError(message);
  // Counted by the parser in characters from 1; 0 if unknown.
  const characters = parser.getValue(error + ERROR.cursorPosition, "i32") - 1;
  return new SqlSyntaxError(message, codeUnitIndex(text, characters));
}

function readTree(json: string): readonly RawStatement[] {
  if (json === "") return [];
  const parsed = parseJson(json, SYNTAX_TREE_LIMITS);
  if (parsed.kind === "too_large") {
    throw new SqlTooComplexError(`The syntax tree is too large: ${describeExcess(parsed.excess)}`);
  }
  if (parsed.kind === "not_json") throw parsed.cause;
  const { stmts = [] } = parsed.value as { readonly stmts?: readonly RawStatement[] };
  return stmts;
}
