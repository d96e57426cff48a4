import { SwarmError } from "../errors/swarm_error.ts";

/**
 * A body up to this size is always read, so that small requests work while large ones are refused.
 */
const FREE_BYTES = 262_144;
/** By then the current bodies have been processed. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Limits the memory of one isolate for bodies of unauthenticated senders, across all requests.
 * Without it, one sender of many requests could exhaust the memory.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts one body until it is disposed of. */
  open(): CountedBody {
    let byteCount = 0;
    let countedBytes = 0;
    return {
      add: (bytes) => {
        byteCount += bytes;
        const moreBytes = Math.max(0, byteCount - FREE_BYTES) - countedBytes;
        if (moreBytes > 0 && this.#heldBytes + moreBytes > this.#maxBytes) throw busy();
        this.#heldBytes += moreBytes;
        countedBytes += moreBytes;
      },
      [Symbol.dispose]: () => {
        this.#heldBytes -= countedBytes;
        countedBytes = 0;
      },
    };
  }
}

/** A body that is being read. */
export interface CountedBody extends Disposable {
  /** Counts more bytes. @throws ENDPOINT_BUSY if they exceed the budget. */
  add(bytes: number): void;
}

function busy(): SwarmError {
  return new SwarmError(
    "ENDPOINT_BUSY",
    "Cannot read the body: there are too many large requests",
    {
      hint: `Send the request again in ${RETRY_AFTER_SECONDS} seconds.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
