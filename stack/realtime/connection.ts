import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import { Channel, type ChannelLink, type ChannelServices } from "./channel.ts";
import { decodeFrame, encodeFrame, type ProtocolVersion, type ReceivedFrame } from "./frames.ts";
import type { Handshake } from "./handshake.ts";
import type { Identity } from "./identity.ts";
import { parseJoinRequest } from "./join_request.ts";
import { wireTopic } from "./topic_hub.ts";

/** Maximum number of joined channels per connection, as on a hosted project. */
const MAX_CHANNELS = 100;
/** Maximum number of buffered bytes for a slow client before its connection is closed. */
const MAX_BUFFERED_BYTES = 16_000_000;
const TRY_AGAIN_LATER = 1013;
const UNSUPPORTED_DATA = 1003;

/** One websocket: passes received frames to its channels, and sends their frames. */
export class Connection implements ChannelLink {
  readonly version: ProtocolVersion;
  readonly keyIdentity: Identity;
  readonly headers: Readonly<Record<string, string>>;
  readonly #socket: WebSocket;
  readonly #services: ChannelServices;
  readonly #channels = new Map<string, Channel>();

  /** @param onEnd Called once when the socket is closed. */
  constructor(
    socket: WebSocket,
    handshake: Handshake,
    services: ChannelServices,
    onEnd: (connection: Connection) => void,
  ) {
    this.version = handshake.version;
    this.keyIdentity = handshake.keyIdentity;
    this.headers = handshake.headers;
    this.#socket = socket;
    this.#services = services;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", (event) => this.#receive(event.data));
    socket.addEventListener("close", () => {
      this.#leaveAll();
      onEnd(this);
    });
  }

  /** Sends to the client. Closes a client that reads too slowly, to protect the server's memory. */
  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      this.#services.log("warn", "realtime.client_too_slow", {
        buffered_bytes: this.#socket.bufferedAmount,
      });
      return this.end(TRY_AGAIN_LATER, "The client reads too slowly");
    }
    this.#socket.send(data);
  }

  forget(channel: Channel): void {
    const name = wireTopic(channel.topic);
    if (this.#channels.get(name) === channel) this.#channels.delete(name);
  }

  /** Leaves all channels and closes the socket. */
  end(code: number, reason: string): void {
    this.#socket.close(code, reason);
    this.#leaveAll();
  }

  #receive(data: unknown): void {
    const frame = decodeFrame(data, this.version);
    if (frame === null) return this.end(UNSUPPORTED_DATA, "Cannot read the frame");
    if (frame.topic === "phoenix") {
      if (frame.event === "heartbeat") this.#reply(frame, "ok");
      return;
    }
    if (frame.event === "phx_join") return this.#join(frame);
    const channel = this.#channels.get(frame.topic);
    if (channel !== undefined && isForJoin(frame, channel)) return channel.receive(frame);
    // A client may leave a closed channel again. Any other frame has no channel.
    if (frame.event === "phx_leave") this.#reply(frame, "ok");
    else this.#reply(frame, "error", "unmatched topic");
  }

  #join(frame: ReceivedFrame): void {
    const [prefix, ...rest] = frame.topic.split(":");
    const topic = rest.join(":");
    if (prefix !== "realtime" || rest.length === 0) {
      return this.#reply(frame, "error", "unmatched topic");
    }
    if (topic === "") {
      return this.#reply(frame, "error", "TopicNameRequired: You must provide a topic name");
    }
    // A repeated join, for example after a lost reply, replaces the earlier one.
    this.#channels.get(frame.topic)?.close("phx_close");
    if (this.#channels.size >= MAX_CHANNELS) {
      return this.#reply(frame, "error", "ChannelRateLimitReached: Too many channels");
    }
    const request = parseJoinRequest(frame.payload);
    if (request === null) {
      return this.#reply(frame, "error", "InvalidJoinPayload: The join's config is malformed");
    }
    const channel = new Channel({ topic, joinRef: frame.joinRef, request }, this, this.#services);
    this.#channels.set(frame.topic, channel);
    channel.receive(frame);
  }

  #leaveAll(): void {
    for (const channel of [...this.#channels.values()]) channel.close();
  }

  #reply(frame: ReceivedFrame, status: "ok" | "error", reason?: string): void {
    const payload = { status, response: definedOnly({ reason }) };
    this.send(encodeFrame({ ...frame, event: "phx_reply", payload }, this.version));
  }
}

/** Whether the frame is for this join and not for an earlier one of the same topic. */
function isForJoin(frame: ReceivedFrame, channel: Channel): boolean {
  return frame.joinRef === null || frame.joinRef === channel.joinRef;
}
