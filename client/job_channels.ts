import type { SupabaseLike } from "./supabase.ts";

/** A message of a job's or a user's Realtime channel; docs/reference/events.md describes them. */
export interface JobMessage {
  readonly event: string;
  readonly payload: {
    readonly task_id: string;
    readonly at: string;
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
 * Outside of pages, the socket of the last channel is closed after this time. `supabase-js` alone
 * would keep it, and a program of Node or Deno with it, for 50 seconds.
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
  readonly #leaving = new Map<string, Promise<void>>();
  #disconnecting: Promise<void> | undefined;

  constructor(supabase: SupabaseLike) {
    this.#supabase = supabase;
  }

  /** Listens to a job until the returned function is called. */
  listen(jobId: string, listener: JobListener): () => void {
    return this.#listen(`supaswarm:master:${jobId}`, listener);
  }

  /** Listens to the changes of a user's jobs and reviews. */
  listenToUser(userId: string, listener: JobListener): () => void {
    return this.#listen(`supaswarm:user:${userId}`, listener);
  }

  /** Listens to what concerns all users of the project. */
  listenToProject(listener: JobListener): () => void {
    return this.#listen("supaswarm:project", listener);
  }

  #listen(topic: string, listener: JobListener): () => void {
    const channel = this.#open.get(topic) ?? this.#join(topic);
    channel.listeners.add(listener);
    if (channel.isJoined) listener.onJoined?.(true);
    return () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size > 0 || this.#open.get(topic) !== channel) return;
      this.#open.delete(topic);
      channel.close();
    };
  }

  #join(topic: string): OpenChannel {
    const supabase = this.#supabase;
    let channel: Channel | undefined;
    let rejoining: ReturnType<typeof setTimeout> | undefined;
    let hasEnded = false;
    const open: OpenChannel = {
      listeners: new Set(),
      isJoined: false,
      close: () => {
        hasEnded = true;
        clearTimeout(rejoining);
        if (channel !== undefined) this.#remove(topic, channel);
      },
    };
    const subscribe = async () => {
      // Until then, supabase-js returns the channel that is left, and opens no socket.
      await this.#leaving.get(topic);
      await this.#disconnecting;
      if (hasEnded) return;
      channel = (supabase.channel(topic, { config: { private: true } }) as Channel)
        .on("broadcast", { event: "*" }, (message) => {
          for (const { onMessage } of [...open.listeners]) onMessage(message);
        })
        .subscribe((status) => {
          if (hasEnded) return;
          open.isJoined = status === "SUBSCRIBED";
          for (const { onJoined } of [...open.listeners]) onJoined?.(open.isJoined);
          if (status !== "CLOSED") return;
          rejoining ??= setTimeout(async () => {
            // Renews a session whose token has expired; the channel is joined with the new token.
            await Promise.resolve(supabase.auth.getSession()).catch(() => {});
            rejoining = undefined;
            start();
          }, REJOIN_MS);
        });
    };
    // Where there is no WebSocket, listeners never join, and poll.
    const start = () => void subscribe().catch(() => {});
    start();
    this.#open.set(topic, open);
    return open;
  }

  #remove(topic: string, channel: Channel): void {
    const leaving = Promise.resolve(this.#supabase.removeChannel(channel)).catch(() => {})
      .then(() => {
        if (this.#leaving.get(topic) === leaving) this.#leaving.delete(topic);
        if (!("document" in globalThis)) setTimeout(() => this.#disconnect(), DISCONNECT_MS);
      });
    this.#leaving.set(topic, leaving);
  }

  #disconnect(): void {
    if (this.#open.size > 0 || this.#supabase.getChannels().length > 0) return;
    this.#disconnecting = Promise.resolve(this.#supabase.realtime.disconnect())
      .then(() => {}, () => {});
  }
}
