import { type AccessServices, ChannelAccess, type Refusal } from "./channel_access.ts";
import type { ChangeBinding, ChangeHub, SubscribeOutcome } from "./change_hub.ts";
import type { ChannelExtension } from "./channel_rights.ts";
import { encodeFrame, type Frame, type ProtocolVersion, type ReceivedFrame } from "./frames.ts";
import type { Identity } from "./identity.ts";
import {
  type JoinRequest,
  parseBroadcastPush,
  parsePresencePush,
  parseTokenPush,
} from "./join_request.ts";
import { replayMessages } from "./stored_messages.ts";
import { type Stream, type Subscriber, type TopicHub, wireTopic } from "./topic_hub.ts";

/** Services that all channels share. */
export interface ChannelServices extends AccessServices {
  readonly hub: TopicHub;
  readonly changes: ChangeHub;
}

/** A channel's interface to its connection. */
export interface ChannelLink {
  readonly version: ProtocolVersion;
  /** The client's identity by its key, without a token. */
  readonly keyIdentity: Identity;
  readonly headers: Readonly<Record<string, string>>;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Removes a closed channel, which accepts no more frames. */
  forget(channel: Channel): void;
}

/** One join of a client. */
export interface ChannelOptions {
  /** The topic without `realtime:`. */
  readonly topic: string;
  readonly joinRef: string | null;
  readonly request: JoinRequest;
}

/** Maximum time between two checks of a token. */
const RECHECK_MS = 5 * 60_000;
/** Maximum size of a broadcast, as on a hosted project. */
const MAX_BROADCAST_BYTES = 3_000_000;
const NO_DATABASE = "Realtime was unable to connect to the project database";

/**
 * One channel that a client joined. It handles the client's frames one after the other, in order,
 * and passes on the messages that the client may receive.
 */
export class Channel implements Subscriber {
  readonly joinedAtMs = Date.now();
  readonly version: ProtocolVersion;
  readonly joinRef: string | null;
  readonly topic: string;
  readonly #stream: Stream;
  readonly #request: JoinRequest;
  readonly #access: ChannelAccess;
  readonly #link: ChannelLink;
  readonly #services: ChannelServices;
  readonly #bindings: readonly ChangeBinding[];
  #tail: Promise<void> = Promise.resolve();
  #isJoined = false;
  #isClosed = false;
  #isPresenceEnabled: boolean;
  #recheckTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ChannelOptions, link: ChannelLink, services: ChannelServices) {
    const { topic, joinRef, request } = options;
    this.topic = topic;
    this.joinRef = joinRef;
    this.version = link.version;
    this.#request = request;
    this.#stream = { topic, isPrivate: request.isPrivate };
    this.#access = new ChannelAccess({ ...this.#stream, ...link }, services);
    this.#bindings = services.changes.bind(request.changes);
    this.#isPresenceEnabled = request.isPresenceEnabled;
    this.#link = link;
    this.#services = services;
  }

  /** Queues the next frame of the client. The first frame is the join. */
  receive(frame: ReceivedFrame): void {
    this.#next(() => this.#handle(frame), (error) => this.#crash(frame, error));
  }

  receives(extension: ChannelExtension): boolean {
    return this.#access.mayRead(extension) &&
      (extension === "broadcast" || this.#isPresenceEnabled);
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    this.#link.send(data);
  }

  /** Closes the channel. With an event, it also notifies the client. */
  close(event?: "phx_close" | "phx_error"): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#recheckTimer);
    this.#services.changes.unsubscribe(this);
    this.#services.hub.leave(this.#stream, this);
    this.#link.forget(this);
    if (event !== undefined) this.#push(event, {}, this.joinRef);
  }

  /** Runs `work` after all earlier work, unless the channel is closed by then. */
  #next(work: () => Promise<void> | void, onError: (error: unknown) => void): void {
    this.#tail = this.#tail.then(() => this.#isClosed ? undefined : work()).catch(onError);
  }

  async #handle(frame: ReceivedFrame): Promise<void> {
    switch (frame.event) {
      case "phx_join":
        return await this.#join(frame.ref);
      case "phx_leave":
        this.#reply(frame.ref, "ok");
        return this.close("phx_close");
      case "broadcast":
        return await this.#broadcast(frame);
      case "presence":
        return await this.#changePresence(frame);
      case "access_token":
        return await this.#renewToken(parseTokenPush(frame.payload));
      default:
        // Like the real server, ignore unknown events.
        return;
    }
  }

  async #join(ref: string | null): Promise<void> {
    const refusal = await this.#access.open(this.#request.token) ?? this.#refusalToReplay();
    if (refusal !== null) return this.#refuseJoin(ref, refusal);
    const early = this.#request.isChangesWait ? await this.#subscribeChanges() : null;
    if (early?.kind === "refused") {
      const code = "RealtimeDisabledForConfiguration";
      return this.#refuseJoin(ref, { code, message: early.message });
    }
    const { replay, wantsReplicationReady } = this.#request;
    const { sql, hub } = this.#services;
    const replayed = replay === null ? [] : await replayMessages(sql, this.topic, replay);
    if (this.#isClosed) return;

    // Do not await between the reply and hub.join, so that no message after the reply is missed.
    this.#reply(ref, "ok", {
      postgres_changes: this.#bindings.map(({ id, request }) => ({ ...request, id })),
    });
    this.#isJoined = true;
    hub.join(this.#stream, this);
    this.#scheduleRecheck();
    if (this.receives("presence")) this.#pushPresenceState();
    for (const message of replayed) this.#push("broadcast", { type: "broadcast", ...message });
    if (wantsReplicationReady) {
      this.#pushSystem("system", "ok", "Replication connection established");
    }
    this.#announceChanges(early ?? await this.#subscribeChanges());
  }

  #refuseJoin(ref: string | null, { code, message }: Refusal): void {
    this.#reply(ref, "error", { reason: `${code}: ${message}` });
    this.close();
  }

  #refusalToReplay(): Refusal | null {
    if (this.#request.replay === null) return null;
    const code = "UnableToReplayMessages";
    if (!this.#stream.isPrivate) {
      return { code, message: "Replay is not allowed for public channels" };
    }
    return this.#access.mayRead("broadcast") ? null : {
      code: "Unauthorized",
      message: `You do not have permissions to read from this Channel topic: ${this.topic}`,
    };
  }

  async #broadcast(frame: ReceivedFrame): Promise<void> {
    const message = parseBroadcastPush(frame.payload);
    // Unauthorized senders get no reply, not even with `ack`, as on the real server.
    if (message === null || !await this.#access.mayWrite("broadcast")) return;
    const { isAcknowledged, isSelfReceiver } = this.#request;
    if (frame.bytes > MAX_BROADCAST_BYTES) {
      if (isAcknowledged) this.#reply(frame.ref, "error", { reason: "payload_size_exceeded" });
      return;
    }
    this.#services.hub.broadcast(this.#stream, message, isSelfReceiver ? {} : { sender: this });
    if (isAcknowledged) this.#reply(frame.ref, "ok");
  }

  async #changePresence(frame: Frame): Promise<void> {
    const push = parsePresencePush(frame.payload);
    if (push === null) {
      return this.#reply(frame.ref, "error", { reason: "Presence track payload must be a map" });
    }
    if (push.event === "untrack") {
      this.#reply(frame.ref, "ok");
      return this.#services.hub.untrack(this.#stream, this);
    }
    if (!await this.#access.mayWrite("presence")) return this.#reply(frame.ref, "error");
    this.#reply(frame.ref, "ok");
    const isFirst = !this.#isPresenceEnabled;
    this.#isPresenceEnabled = true;
    this.#services.hub.track(this.#stream, this, this.#request.presenceKey, push.payload);
    // A client that tracks without enabled presence receives it from now on, so send the state.
    if (isFirst && this.receives("presence")) this.#pushPresenceState();
  }

  async #renewToken(token: string | null): Promise<void> {
    const outcome = await this.#access.renew(token);
    if (outcome === "unchanged") return;
    if (outcome !== "renewed") return this.#shutDown(outcome);
    this.#scheduleRecheck();
    this.#announceChanges(await this.#subscribeChanges());
  }

  /**
   * Verifies the token again when it expires, and every few minutes in case its key was revoked.
   */
  #scheduleRecheck(): void {
    clearTimeout(this.#recheckTimer);
    if (this.#isClosed || this.#access.token === null) return;
    const untilExpiryMs = (this.#access.identity.expiresAtMs ?? Infinity) - Date.now();
    const waitMs = Math.min(Math.max(untilExpiryMs, 0), RECHECK_MS);
    this.#recheckTimer = setTimeout(
      () => this.#next(() => this.#recheck(), this.#logError),
      waitMs,
    );
  }

  async #recheck(): Promise<void> {
    const refusal = await this.#access.recheck();
    if (refusal === null) this.#scheduleRecheck();
    else this.#shutDown(refusal);
  }

  /** Sends the reason to the client and closes. The client may join again with a valid token. */
  #shutDown({ message }: Refusal): void {
    this.#pushSystem("system", "error", message);
    this.close("phx_close");
  }

  async #subscribeChanges(): Promise<SubscribeOutcome> {
    const { changes } = this.#services;
    const outcome = await changes.subscribe(this, this.#bindings, this.#access.identity);
    if (this.#isClosed) changes.unsubscribe(this);
    return outcome;
  }

  #announceChanges(outcome: SubscribeOutcome): void {
    if (this.#bindings.length === 0) return;
    const isRefused = outcome.kind === "refused";
    const message = isRefused ? outcome.message : "Subscribed to PostgreSQL";
    this.#pushSystem("postgres_changes", isRefused ? "error" : "ok", message);
  }

  #crash(frame: Frame, error: unknown): void {
    this.#logError(error);
    if (this.#isJoined) return this.close("phx_error");
    this.#refuseJoin(frame.ref, { code: "UnableToConnectToProject", message: NO_DATABASE });
  }

  readonly #logError = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    this.#services.log("error", "realtime.channel_failed", { message });
  };

  #pushPresenceState(): void {
    this.#push("presence_state", this.#services.hub.presenceOf(this.#stream));
  }

  #pushSystem(extension: string, status: "ok" | "error", message: string): void {
    this.#push("system", { extension, status, message, channel: this.topic });
  }

  #reply(ref: string | null, status: "ok" | "error", response: unknown = {}): void {
    this.#push("phx_reply", { status, response }, ref);
  }

  #push(event: string, payload: unknown, ref: string | null = null): void {
    const topic = wireTopic(this.topic);
    this.send(encodeFrame({ joinRef: this.joinRef, ref, topic, event, payload }, this.version));
  }
}
