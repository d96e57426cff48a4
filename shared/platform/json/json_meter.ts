import { isExact, MAX_DIGITS } from "./exact_numbers.ts";
import { type JsonExcess, type JsonLimit, type JsonLimits, MAX_NAME_BYTES } from "./json_limits.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BLANK = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const LOWER_E = 0x65;
/** Programs read numbers with a larger exponent as infinite or zero. */
const MAX_EXPONENT = 400;

/**
 * Measures JSON while it arrives, byte by byte and without building anything: its size, its depth,
 * its members and items. Does not check whether the text is JSON: invalid text fails when it is
 * parsed, in linear time.
 */
export class JsonMeter {
  readonly #limits: JsonLimits;
  /** By level: 1 for an array, 0 for an object. */
  readonly #isArray: Uint8Array;
  #bytes = 0;
  #depth = 0;
  #members = 0;
  #items = 0;
  #nameBytes = 0;
  #isInString = false;
  #isEscaped = false;
  /** An array was opened and is still empty. */
  #isEmptyArray = false;
  /** The exponent of a number so far; -1 outside of exponents. */
  #exponent = -1;
  /** The digits of a number so far, if the limits count them. */
  #digits = "";
  #isWhole = true;
  #excess: JsonExcess | null = null;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
    this.#isArray = new Uint8Array(limits.depth + 1);
  }

  /** Counts more of the text. Returns the first exceeded limit; null if none. */
  feed(bytes: Uint8Array): JsonExcess | null {
    if (this.#excess !== null) return this.#excess;
    this.#bytes += bytes.byteLength;
    if (this.#bytes > this.#limits.bytes) return this.#exceeded("bytes", this.#bytes);
    for (let place = 0; place < bytes.byteLength; place++) {
      if (this.#isInString) {
        place = this.#skipString(bytes, place);
        continue;
      }
      const byte = bytes[place] ?? 0;
      if (this.#exponent >= 0 || byte === LOWER_E || byte === UPPER_E) this.#countExponent(byte);
      if (this.#limits.digits !== undefined) this.#countDigit(byte, this.#limits.digits);
      if (byte <= BLANK) continue;
      if (this.#isEmptyArray && byte !== CLOSE_ARRAY) this.#items++;
      this.#isEmptyArray = false;
      if (byte === QUOTE) {
        this.#isInString = true;
        this.#nameBytes = 0;
      } else this.#count(byte);
      if (this.#excess !== null) return this.#excess;
    }
    return null;
  }

  /** Skips to the quote that ends the string, or to the end of the received text. */
  #skipString(bytes: Uint8Array, start: number): number {
    let from = start;
    while (true) {
      const quote = bytes.indexOf(QUOTE, from);
      const end = quote === -1 ? bytes.byteLength : quote;
      let backslashes = 0;
      while (end - backslashes > from && bytes[end - backslashes - 1] === BACKSLASH) backslashes++;
      const isCarried = this.#isEscaped && end - backslashes === from;
      this.#isEscaped = (backslashes + (isCarried ? 1 : 0)) % 2 === 1;
      this.#nameBytes += end - from;
      if (quote === -1) return bytes.byteLength;
      if (!this.#isEscaped) {
        this.#isInString = false;
        return quote;
      }
      // The quote itself is escaped and part of the string.
      this.#isEscaped = false;
      this.#nameBytes++;
      from = quote + 1;
    }
  }

  #count(byte: number): void {
    switch (byte) {
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        this.#depth++;
        if (this.#depth > this.#limits.depth) this.#exceeded("depth", this.#depth);
        this.#isEmptyArray = byte === OPEN_ARRAY;
        this.#isArray[this.#depth] = byte === OPEN_ARRAY ? 1 : 0;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        if (this.#depth > 0) this.#depth--;
        break;
      case COMMA:
        if (this.#isArray[this.#depth] === 1) this.#items++;
        break;
      case COLON:
        this.#members++;
        if (this.#nameBytes > MAX_NAME_BYTES) this.#exceeded("name_bytes", this.#nameBytes);
        break;
    }
    if (this.#members > this.#limits.members) this.#exceeded("members", this.#members);
    if (this.#items > this.#limits.items) this.#exceeded("items", this.#items);
  }

  /** PostgreSQL and programs write numbers without an exponent: "1e300" is a text of 301 bytes. */
  #countExponent(byte: number): void {
    if (byte === LOWER_E || byte === UPPER_E) this.#exponent = 0;
    else if (byte >= ZERO && byte <= NINE) {
      this.#exponent = Math.min(MAX_EXPONENT, this.#exponent * 10 + byte - ZERO);
    } else if (byte !== PLUS && byte !== MINUS) {
      this.#bytes += this.#exponent;
      this.#exponent = -1;
      if (this.#bytes > this.#limits.bytes) this.#exceeded("bytes", this.#bytes);
    }
  }

  #countDigit(byte: number, limit: number): void {
    if (byte >= ZERO && byte <= NINE) {
      if (this.#digits === "") this.#isWhole = true;
      if (this.#digits.length <= MAX_DIGITS) this.#digits += String.fromCharCode(byte);
    } else if (byte === POINT || byte === LOWER_E || byte === UPPER_E) {
      this.#isWhole = false;
    } else if (this.#digits !== "") {
      const isRounded = this.#isWhole && this.#digits.length > limit && !isExact(this.#digits);
      if (isRounded) this.#exceeded("digits", this.#digits.length);
      this.#digits = "";
    }
  }

  #exceeded(limit: Exclude<JsonLimit, "events">, found: number): JsonExcess {
    const allowed = limit === "name_bytes" ? MAX_NAME_BYTES : this.#limits[limit] ?? 0;
    return this.#excess ??= { limit, allowed, found };
  }
}
