import type { LogLevel } from "../../shared/platform/log/logger.ts";

/** Why an isolate ends: `detail.reason` of the `beforeunload` event. */
export type UnloadReason = "early_drop" | "cpu" | "wall_clock" | "termination";

/** Commands to the process that holds the isolates, one JSON line each on its stdin. */
export type IsolateCommand =
  | {
    readonly type: "start";
    readonly isolate: number;
    readonly name: string;
    /** `file:` URL of the function's `index.ts`. */
    readonly entry: string;
  }
  /** The isolate gets no new requests. It announces the unload and ends when its work is done. */
  | { readonly type: "retire"; readonly isolate: number; readonly reason: UnloadReason }
  /** The isolate announces the unload immediately and ends when its work is done. */
  | { readonly type: "unload"; readonly isolate: number; readonly reason: UnloadReason }
  /** Checks that the isolate responds. */
  | { readonly type: "ping"; readonly isolate: number }
  | { readonly type: "terminate"; readonly isolate: number };

/** Reports about an isolate, one JSON line each on the process's stdout. */
export type IsolateEvent =
  /** Its thread exists. It has not loaded the code yet. */
  | { readonly type: "started"; readonly isolate: number }
  /** It listens on this port of 127.0.0.1, for requests with this key. */
  | {
    readonly type: "ready";
    readonly isolate: number;
    readonly port: number;
    readonly key: string;
  }
  /** The response to a ping: its event loop is not blocked. */
  | { readonly type: "pong"; readonly isolate: number }
  /** It could not load the code. */
  | { readonly type: "failed"; readonly isolate: number; readonly message: string }
  /** An uncaught error or unhandled rejection ended it. */
  | { readonly type: "crashed"; readonly isolate: number; readonly message: string }
  /**
   * The number of running requests and background tasks, reported after the unload is announced.
   */
  | { readonly type: "pending"; readonly isolate: number; readonly count: number }
  /** It ended on request, with no work left. */
  | { readonly type: "ended"; readonly isolate: number }
  | {
    readonly type: "log";
    readonly isolate: number;
    readonly level: LogLevel;
    readonly text: string;
  };

/** Encodes a message as one line of text. */
export function encodeMessage(message: IsolateCommand | IsolateEvent): string {
  return `${JSON.stringify(message)}\n`;
}

/** Decodes a line. Returns null for any other text, such as stray output. */
export function decodeMessage<Message extends IsolateCommand | IsolateEvent>(
  line: string,
): Message | null {
  if (!line.startsWith('{"type":')) return null;
  try {
    // No validation: both ends are code of this folder, from the same checkout.
    return JSON.parse(line) as Message;
  } catch {
    return null;
  }
}
