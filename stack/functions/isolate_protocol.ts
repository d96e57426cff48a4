import type { LogLevel } from "../../shared/log/logger.ts";

/** Why an isolate ends, as `beforeunload` tells it in `detail.reason`. */
export type UnloadReason = "early_drop" | "cpu" | "wall_clock" | "termination";

/** What the stack asks of the process that holds the isolates; one JSON line each on its stdin. */
export type IsolateCommand =
  | {
    readonly type: "start";
    readonly isolate: number;
    /** The function's name. */
    readonly name: string;
    /** `file:` URL of the function's `index.ts`. */
    readonly entry: string;
  }
  /** Gets no new requests: announce the unload and end as soon as nothing is going on. */
  | { readonly type: "retire"; readonly isolate: number; readonly reason: UnloadReason }
  /** Announce the unload now, whatever is going on, and end when that is done. */
  | { readonly type: "unload"; readonly isolate: number; readonly reason: UnloadReason }
  /** Asks for a sign of life. */
  | { readonly type: "ping"; readonly isolate: number }
  | { readonly type: "terminate"; readonly isolate: number };

/** What happened to an isolate; one JSON line each on the process's stdout. */
export type IsolateEvent =
  /** Its thread exists; the code is about to be loaded. */
  | { readonly type: "started"; readonly isolate: number }
  /** Listens on this port of 127.0.0.1. */
  | { readonly type: "ready"; readonly isolate: number; readonly port: number }
  /** The answer to a ping: its event loop turns. */
  | { readonly type: "pong"; readonly isolate: number }
  /** The code could not be loaded. */
  | { readonly type: "failed"; readonly isolate: number; readonly message: string }
  /** An uncaught error or unhandled rejection has ended it. */
  | { readonly type: "crashed"; readonly isolate: number; readonly message: string }
  /** The number of running requests and background tasks, reported after the announced unload. */
  | { readonly type: "pending"; readonly isolate: number; readonly count: number }
  /** Ended as asked, with nothing left to do. */
  | { readonly type: "ended"; readonly isolate: number }
  | {
    readonly type: "log";
    readonly isolate: number;
    readonly level: LogLevel;
    readonly text: string;
  };

/** A message as one line of text. */
export function encodeMessage(message: IsolateCommand | IsolateEvent): string {
  return `${JSON.stringify(message)}\n`;
}

/** The message of a line, or null when the line is something else, such as stray output. */
export function decodeMessage<Message extends IsolateCommand | IsolateEvent>(
  line: string,
): Message | null {
  if (!line.startsWith('{"type":')) return null;
  try {
    // Both ends are this folder's own code and come from one checkout.
    return JSON.parse(line) as Message;
  } catch {
    return null;
  }
}
