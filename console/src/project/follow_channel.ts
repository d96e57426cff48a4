import { projectClient } from "./project_client.ts";

/** The time after which a channel that its server closed is joined again. */
const REJOIN_MS = 1_000;

/** The callbacks for the events of a followed channel. */
export interface ChannelFollower {
  readonly onMessage: (message: { readonly event: string; readonly payload: unknown }) => void;
  /** True when messages arrive from now on; earlier ones have to be read. */
  readonly onJoined: (isJoined: boolean) => void;
}

/**
 * Follows a private channel until the returned function is called. The client rejoins automatically
 * after lost sockets, but not after the server closed the channel, as it does when a token expires.
 */
export function followChannel(topic: string, { onMessage, onJoined }: ChannelFollower): () => void {
  const client = projectClient();
  let hasEnded = false;
  let rejoining: ReturnType<typeof setTimeout> | undefined;
  let channel = join();

  function join() {
    return client
      .channel(topic, { config: { private: true } })
      .on("broadcast", { event: "*" }, onMessage as never)
      .subscribe((status) => {
        if (hasEnded) return;
        onJoined(status === "SUBSCRIBED");
        if (status === "CLOSED") rejoining ??= setTimeout(() => void rejoin(), REJOIN_MS);
      });
  }

  async function rejoin(): Promise<void> {
    // Refreshes a session whose token has expired; the channel is joined with the new token.
    await client.auth.getSession();
    rejoining = undefined;
    if (!hasEnded) channel = join();
  }

  return () => {
    hasEnded = true;
    clearTimeout(rejoining);
    void client.removeChannel(channel);
  };
}
