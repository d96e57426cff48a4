import type { JsonObject } from "../../shared/platform/values/json.ts";
import {
  type Broadcast,
  encodeBroadcast,
  encodeFrame,
  type Frame,
  type ProtocolVersion,
} from "./frames.ts";
import { type PresenceDiff, type PresenceList, PresenceState } from "./presence_state.ts";

/** A stream of messages. Private and public channels of one topic are different streams. */
export interface Stream {
  /** The topic without `realtime:`. */
  readonly topic: string;
  readonly isPrivate: boolean;
}

/** A channel that a client joined. */
export interface Subscriber {
  readonly version: ProtocolVersion;
  /** When it joined, in milliseconds since 1970. */
  readonly joinedAtMs: number;
  receives(extension: "broadcast" | "presence"): boolean;
  send(data: string | Uint8Array<ArrayBuffer>): void;
}

/** Which subscribers of a stream to exclude. */
export interface Exclusion {
  readonly sender?: Subscriber;
  /** Excludes subscribers that joined after the message was sent (milliseconds since 1970). */
  readonly sentAtMs?: number;
}

type Encode = (version: ProtocolVersion) => string | Uint8Array<ArrayBuffer> | null;

interface Topic {
  readonly subscribers: Set<Subscriber>;
  readonly presence: PresenceState<Subscriber>;
}

/** The subscribers and presence of all streams. It uses neither sockets nor the database. */
export class TopicHub {
  readonly #topics = new Map<string, Topic>();
  #lastPresenceRef = 0;

  /** Whether the stream has subscribers. */
  has(stream: Stream): boolean {
    return this.#topics.has(keyOf(stream));
  }

  /** The number of streams with subscribers. */
  get size(): number {
    return this.#topics.size;
  }

  join(stream: Stream, subscriber: Subscriber): void {
    const key = keyOf(stream);
    const topic = this.#topics.get(key) ?? {
      subscribers: new Set<Subscriber>(),
      presence: new PresenceState<Subscriber>(() => `${++this.#lastPresenceRef}`),
    };
    topic.subscribers.add(subscriber);
    this.#topics.set(key, topic);
  }

  /** Removes a subscriber and notifies the others that it is no longer present. */
  leave(stream: Stream, subscriber: Subscriber): void {
    const key = keyOf(stream);
    const topic = this.#topics.get(key);
    if (topic === undefined || !topic.subscribers.delete(subscriber)) return;
    this.#sendDiff(stream, topic, topic.presence.untrack(subscriber));
    if (topic.subscribers.size === 0) this.#topics.delete(key);
  }

  /** Sends a message to all subscribers that may receive it. Encodes it once per version. */
  broadcast(stream: Stream, message: Omit<Broadcast, "topic">, exclusion: Exclusion = {}): void {
    const topic = this.#topics.get(keyOf(stream));
    if (topic === undefined) return;
    const whole = { ...message, topic: wireTopic(stream.topic) };
    const { sender, sentAtMs = Infinity } = exclusion;
    const encode = encodedOnce((version) => encodeBroadcast(whole, version));
    for (const subscriber of topic.subscribers) {
      const isExcluded = subscriber === sender || subscriber.joinedAtMs > sentAtMs;
      if (!isExcluded && subscriber.receives("broadcast")) deliver(subscriber, encode);
    }
  }

  track(stream: Stream, subscriber: Subscriber, key: string, payload: JsonObject): void {
    const topic = this.#topics.get(keyOf(stream));
    if (topic?.subscribers.has(subscriber)) {
      this.#sendDiff(stream, topic, topic.presence.track(subscriber, key, payload));
    }
  }

  untrack(stream: Stream, subscriber: Subscriber): void {
    const topic = this.#topics.get(keyOf(stream));
    if (topic !== undefined) this.#sendDiff(stream, topic, topic.presence.untrack(subscriber));
  }

  presenceOf(stream: Stream): PresenceList {
    return this.#topics.get(keyOf(stream))?.presence.list() ?? {};
  }

  #sendDiff(stream: Stream, topic: Topic, diff: PresenceDiff | null): void {
    if (diff === null) return;
    const frame: Frame = {
      joinRef: null,
      ref: null,
      topic: wireTopic(stream.topic),
      event: "presence_diff",
      payload: diff,
    };
    const encode = encodedOnce((version) => encodeFrame(frame, version));
    for (const subscriber of topic.subscribers) {
      if (subscriber.receives("presence")) deliver(subscriber, encode);
    }
  }
}

/** Returns the topic as it is written in frames. */
export function wireTopic(topic: string): string {
  return `realtime:${topic}`;
}

function keyOf(stream: Stream): string {
  return `${stream.isPrivate ? "private" : "public"}:${stream.topic}`;
}

function deliver(subscriber: Subscriber, encode: Encode): void {
  const data = encode(subscriber.version);
  if (data !== null) subscriber.send(data);
}

function encodedOnce(encode: Encode): Encode {
  const written = new Map<ProtocolVersion, ReturnType<Encode>>();
  return (version) => {
    const known = written.get(version);
    if (known !== undefined) return known;
    const data = encode(version);
    written.set(version, data);
    return data;
  };
}
