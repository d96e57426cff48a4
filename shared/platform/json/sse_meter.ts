import type { JsonExcess, JsonLimits } from "./json_limits.ts";
import { JsonMeter } from "./json_meter.ts";

const CR = 0x0d;
const LF = 0x0a;
const BLANK = 0x20;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
/** Field of a server-sent event that carries its data. */
const DATA = new TextEncoder().encode("data:");
const BYTE_ORDER_MARK = new Uint8Array([0xef, 0xbb, 0xbf]);

/**
 * Measures a stream of server-sent events while it arrives, the data of each event as one document
 * of JSON. Other fields and comments count as bytes of their event, and brackets in them as levels,
 * because some readers treat such lines as data.
 */
export class SseMeter {
  readonly #limits: JsonLimits;
  #meter: JsonMeter;
  #eventBytes = 0;
  #eventCount = 0;
  #strayLevels = 0;
  /** The first bytes of a line, until it is clear whether they are `data:`. */
  #linePlace = 0;
  #isData = true;
  #isBlankLine = true;
  #isFirstLine = true;
  #wasCr = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
    this.#meter = new JsonMeter(limits);
  }

  /** Counts more of the stream. Returns the limit that an event or all together exceed; null if none. */
  feed(bytes: Uint8Array): JsonExcess | null {
    let place = this.#isFirstLine ? this.#skipMark(bytes) : 0;
    while (place < bytes.byteLength) {
      const end = lineEnd(bytes, place);
      const excess = end === place ? null : this.#feedLine(bytes.subarray(place, end));
      if (excess !== null) return excess;
      if (end < bytes.byteLength) this.#endLine(bytes[end] === CR);
      place = end + 1;
    }
    const { events = Infinity } = this.#limits;
    if (this.#eventCount <= events) return null;
    return { limit: "events", allowed: events, found: this.#eventCount };
  }

  /** A byte order mark at the start does not belong to a field. */
  #skipMark(bytes: Uint8Array): number {
    const isMark = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte);
    return isMark && this.#linePlace === 0 ? BYTE_ORDER_MARK.byteLength : 0;
  }

  #feedLine(line: Uint8Array): JsonExcess | null {
    this.#wasCr = false;
    this.#isBlankLine = false;
    this.#eventBytes += line.byteLength;
    if (this.#eventBytes > this.#limits.bytes) {
      return { limit: "bytes", allowed: this.#limits.bytes, found: this.#eventBytes };
    }
    let place = 0;
    while (this.#linePlace < DATA.byteLength && place < line.byteLength) {
      this.#isData &&= line[place] === DATA[this.#linePlace];
      this.#linePlace++;
      place++;
    }
    if (this.#linePlace < DATA.byteLength || !this.#isData) return this.#countStray(line);
    return this.#meter.feed(line.subarray(place));
  }

  #countStray(line: Uint8Array): JsonExcess | null {
    for (const byte of line) {
      if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#strayLevels++;
    }
    const { depth } = this.#limits;
    if (this.#strayLevels <= depth) return null;
    return { limit: "depth", allowed: depth, found: this.#strayLevels };
  }

  #endLine(isCr: boolean): void {
    // CR and LF end one line together.
    if (this.#wasCr && !isCr && this.#isBlankLine) {
      this.#wasCr = false;
      return;
    }
    if (this.#isBlankLine && this.#eventBytes > 0) {
      this.#meter = new JsonMeter(this.#limits);
      this.#eventBytes = 0;
      this.#eventCount++;
    }
    this.#wasCr = isCr;
    this.#linePlace = 0;
    this.#isData = true;
    this.#isBlankLine = true;
    this.#isFirstLine = false;
  }
}

function lineEnd(bytes: Uint8Array, from: number): number {
  for (let place = from; place < bytes.byteLength; place++) {
    const byte = bytes[place] ?? 0;
    if (byte < BLANK && (byte === LF || byte === CR)) return place;
  }
  return bytes.byteLength;
}
