import { SwarmError } from "../errors/swarm_error.ts";

/** A body of so many bytes is always read: ordinary requests go on while large ones are refused. */
const FREE_BYTES = 262_144;
/** A body that is read has gone again by then. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Limits what one isolate holds of bodies whose sender it does not know yet, all requests together.
 * Without it, anybody who sends many at once takes the memory of everybody.
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
  /** Counts more of it. @throws ENDPOINT_BUSY when the budget has no room for them. */
  add(bytes: number): void;
}

function busy(): SwarmError {
  return new SwarmError(
    "ENDPOINT_BUSY",
    "Cannot read the body: too many large requests have come at once",
    {
      hint: `Send the request again in ${RETRY_AFTER_SECONDS} seconds.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
