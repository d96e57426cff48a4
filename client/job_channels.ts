import type { SupabaseLike } from "./supabase.ts";

/** A message of a job's Realtime channel. */
export interface JobMessage {
  readonly event: string;
  readonly payload: {
    readonly task_id: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

/** What a listener of a job's channel learns. */
export interface JobListener {
  readonly onMessage: (message: JobMessage) => void;
  /** True when messages arrive from now on; earlier ones have to be read. */
  readonly onJoined?: (isJoined: boolean) => void;
}

interface Channel {
  on(type: "broadcast", filter: object, listener: (message: JobMessage) => void): Channel;
  subscribe(onStatus: (status: string) => void): Channel;
}

interface OpenChannel {
  readonly listeners: Set<JobListener>;
  isJoined: boolean;
  close(): void;
}

/**
 * The socket of the last channel is closed after this time. `supabase-js` alone would keep it, and a
 * program of Node or Deno with it, for 50 seconds.
 */
const DISCONNECT_MS = 500;
/** A channel that its server closed, as it does when a token expires, is joined again. */
const REJOIN_MS = 1_000;

/**
 * The Realtime channels of jobs. Listeners share a channel, because a `supabase-js` client joins
 * each only once. Realtime may lose messages, so they are hints: the truth is in the database.
 */
export class JobChannels {
  readonly #supabase: SupabaseLike;
  readonly #open = new Map<string, OpenChannel>();

  constructor(supabase: SupabaseLike) {
    this.#supabase = supabase;
  }

  /** Listens until the returned function is called. */
  listen(jobId: string, listener: JobListener): () => void {
    const channel = this.#open.get(jobId) ?? this.#join(jobId);
    channel.listeners.add(listener);
    if (channel.isJoined) listener.onJoined?.(true);
    return () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size > 0 || this.#open.get(jobId) !== channel) return;
      this.#open.delete(jobId);
      channel.close();
    };
  }

  #disconnect(): void {
    if (this.#supabase.getChannels().length === 0) this.#supabase.realtime.disconnect();
  }

  #join(jobId: string): OpenChannel {
    const supabase = this.#supabase;
    let rejoining: ReturnType<typeof setTimeout> | undefined;
    let hasEnded = false;
    const open: OpenChannel = {
      listeners: new Set(),
      isJoined: false,
      close() {
        hasEnded = true;
        clearTimeout(rejoining);
        remove();
      },
    };
    const subscribe = () =>
      (supabase.channel(`supaswarm:master:${jobId}`, { config: { private: true } }) as Channel)
        .on("broadcast", { event: "*" }, (message) => {
          for (const { onMessage } of [...open.listeners]) onMessage(message);
        })
        .subscribe((status) => {
          if (hasEnded) return;
          open.isJoined = status === "SUBSCRIBED";
          for (const { onJoined } of [...open.listeners]) onJoined?.(open.isJoined);
          if (status !== "CLOSED") return;
          rejoining ??= setTimeout(() => {
            rejoining = undefined;
            channel = subscribe();
          }, REJOIN_MS);
        });
    const remove = () => {
      const leave = supabase.removeChannel(channel).then(undefined, () => {});
      void leave.then(() => setTimeout(() => this.#disconnect(), DISCONNECT_MS));
    };
    let channel = subscribe();
    this.#open.set(jobId, open);
    return open;
  }
}
