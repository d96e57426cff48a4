import type { Notification } from "./wire_frames.ts";

/** An extension bundle that PGlite unpacks at start. `path` names a `.tar.gz` file. */
export interface ExtensionBundle {
  readonly name: string;
  readonly path: string;
}

/** The task of the database child. It is the first line of its stdin, as JSON. */
export interface ChildOptions {
  /** The PostgreSQL data folder. */
  readonly dataDir: string;
  readonly bundles: readonly ExtensionBundle[];
  readonly task: PrepareTask | ServeTask;
}

/** Create the data folder, run these SQL texts as superuser, and exit. */
export interface PrepareTask {
  readonly kind: "prepare";
  readonly sql: readonly { readonly name: string; readonly sql: string }[];
}

/** Serve the data folder on loopback until stdin ends. */
export interface ServeTask {
  readonly kind: "serve";
  /** 0 takes any free port. */
  readonly port: number;
  /** The child reports the notifications of these channels. */
  readonly channels: readonly string[];
  /** Interval of heartbeats while the session makes progress. */
  readonly beatIntervalMs: number;
  /** The process that uses the folder. The child writes it into the lock file. */
  readonly ownerPid: number;
}

/** The child's reports, one JSON object per line of its stdout. */
export type ChildMessage =
  | { readonly kind: "ready"; readonly port: number }
  /** The done part of the SQL texts, from 0 to 1. */
  | { readonly kind: "ran"; readonly done: number }
  | { readonly kind: "prepared" }
  | ({ readonly kind: "notification" } & Notification)
  /** The session answers messages, or no client is waiting. */
  | { readonly kind: "beat" }
  | { readonly kind: "locked"; readonly pid: number | null }
  | { readonly kind: "failed"; readonly message: string };

const encoder = new TextEncoder();

/**
 * Writes one report. It writes synchronously because a long statement blocks the child's event
 * loop, and the report must be sent before that.
 */
export function reportToParent(message: ChildMessage): void {
  const bytes = encoder.encode(JSON.stringify(message) + "\n");
  for (let written = 0; written < bytes.length;) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}
