import type { Notification } from "./wire_frames.ts";

/** An extension bundle that PGlite unpacks at start: `path` of a `.tar.gz` on disk. */
export interface ExtensionBundle {
  readonly name: string;
  readonly path: string;
}

/** What the database child is to do: the first line of its stdin, as JSON. */
export interface ChildOptions {
  /** The PostgreSQL data folder. */
  readonly dataDir: string;
  readonly bundles: readonly ExtensionBundle[];
  readonly task: PrepareTask | ServeTask;
}

/** Make the data folder, run these SQL texts as superuser, end. */
export interface PrepareTask {
  readonly kind: "prepare";
  readonly sql: readonly { readonly name: string; readonly sql: string }[];
}

/** Serve the data folder on loopback until stdin ends. */
export interface ServeTask {
  readonly kind: "serve";
  /** 0 takes any free port. */
  readonly port: number;
  /** Channels whose notifications are reported. */
  readonly channels: readonly string[];
  /** A sign of life is sent this often while the session makes progress. */
  readonly beatIntervalMs: number;
  /** Written into the lock file: the process that the folder is in use by. */
  readonly ownerPid: number;
}

/** What the child reports, one JSON object a line of its stdout. */
export type ChildMessage =
  | { readonly kind: "ready"; readonly port: number }
  | { readonly kind: "prepared" }
  | ({ readonly kind: "notification" } & Notification)
  /** Messages are being answered, or nobody waits. */
  | { readonly kind: "beat" }
  | { readonly kind: "locked"; readonly pid: number | null }
  | { readonly kind: "failed"; readonly message: string };

const encoder = new TextEncoder();

/**
 * Writes one report. Synchronous, since a long statement stops the child's event loop and the
 * report must be out before it.
 */
export function reportToParent(message: ChildMessage): void {
  const bytes = encoder.encode(JSON.stringify(message) + "\n");
  for (let written = 0; written < bytes.length;) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}
