import { waitFor } from "../../scripts/wait_for.ts";
import type { RealtimeChannel, SupabaseClient } from "../deps.ts";

/** One broadcast that a client received. */
export interface Broadcast {
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A client's channel and its broadcasts. */
export interface ChannelListener {
  /** The result of the join. */
  readonly joined: "SUBSCRIBED" | "REFUSED";
  readonly received: Broadcast[];
  /** Waits for the first broadcast of that event. */
  until(event: string): Promise<Broadcast>;
  /** Sends a broadcast over the channel, as a client may try, and returns the client's result. */
  send(event: string): Promise<string>;
  leave(): Promise<void>;
}

/**
 * Joins a channel that this client has not joined yet, private by default, and listens to
 * all broadcasts.
 */
export async function listen(
  client: SupabaseClient,
  topic: string,
  options: { readonly isPrivate?: boolean } = {},
): Promise<ChannelListener> {
  const received: Broadcast[] = [];
  const channel = client
    .channel(topic, { config: { private: options.isPrivate ?? true } })
    .on(
      "broadcast",
      { event: "*" },
      ({ event, payload }) => void received.push({ event, payload }),
    );
  const joined = await join(channel);
  // A refused channel would otherwise retry for its whole lifetime.
  if (joined === "REFUSED") await client.removeChannel(channel);
  return {
    joined,
    received,
    until: (event) =>
      waitFor(() => received.find((broadcast) => broadcast.event === event), {
        what: `the broadcast ${event}`,
      }),
    send: async (event) => String(await channel.send({ type: "broadcast", event, payload: {} })),
    leave: async () => void await client.removeChannel(channel),
  };
}

function join(channel: RealtimeChannel): Promise<"SUBSCRIBED" | "REFUSED"> {
  return new Promise((resolve) => {
    // After a timeout the client joins again.
    channel.subscribe((status) => {
      if (status === "SUBSCRIBED") resolve(status);
      if (status === "CHANNEL_ERROR") resolve("REFUSED");
    });
  });
}

/** Joins a private channel, leaves it, and returns the result of the join. */
export async function tryToListen(
  client: SupabaseClient,
  topic: string,
): Promise<ChannelListener["joined"]> {
  const listener = await listen(client, topic);
  await listener.leave();
  return listener.joined;
}

/** The names of the received events, in order. */
export function eventsOf({ received }: ChannelListener): string[] {
  return received.map(({ event }) => event);
}
