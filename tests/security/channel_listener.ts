import type { RealtimeChannel, SupabaseClient } from "../deps.ts";

/** A client that has joined a channel. */
export interface ChannelListener {
  /** The events that it received, in order. */
  readonly received: string[];
  /** Sends an event over the socket and returns the client's result. */
  send(event: string): Promise<string>;
}

/** Which of the two channels of a name is meant. */
export interface ChannelChoice {
  readonly isPrivate: boolean;
}

/** Joins a channel and records its events. @throws Error if the join is refused. */
export async function listen(
  client: SupabaseClient,
  topic: string,
  choice: ChannelChoice,
): Promise<ChannelListener> {
  const received: string[] = [];
  const channel = openChannel(client, topic, choice)
    .on("broadcast", { event: "*" }, ({ event }) => received.push(event));
  const status = await joined(channel);
  if (status !== "SUBSCRIBED") throw new Error(`Joining ${topic} ended with ${status}`);
  return {
    received,
    send: async (event) => String(await channel.send({ type: "broadcast", event, payload: {} })),
  };
}

/** Joins a channel, leaves it, and returns the result of the join. */
export async function tryToListen(
  client: SupabaseClient,
  topic: string,
  choice: ChannelChoice,
): Promise<string> {
  const channel = openChannel(client, topic, choice);
  const status = await joined(channel);
  await client.removeChannel(channel);
  return status;
}

function openChannel(client: SupabaseClient, topic: string, { isPrivate }: ChannelChoice) {
  return client.channel(topic, { config: { private: isPrivate } });
}

function joined(channel: RealtimeChannel): Promise<string> {
  return new Promise((resolve) => channel.subscribe((status) => resolve(status)));
}
