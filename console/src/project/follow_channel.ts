import { projectClient } from "./project_client.ts";

/** A channel that its server closed is joined anew after this time. */
const REJOIN_MS = 1_000;

/** What becomes of a channel that is followed. */
export interface ChannelFollower {
  readonly onMessage: (message: { readonly event: string; readonly payload: unknown }) => void;
  /** True when messages arrive from now on; what came before has to be read. */
  readonly onJoined: (isJoined: boolean) => void;
}

/**
 * Follows a private channel until the returned function is called. The client rejoins by itself
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
    // Renews a session whose token has expired; the channel is joined with the new one.
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
