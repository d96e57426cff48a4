import {
  type ChannelExtension,
  type ChannelRights,
  mayWrite,
  readRights,
  type RightsServices,
} from "./channel_rights.ts";
import type { ClientSetting } from "./client_setting.ts";
import { identify, type Identity, type VerifyToken } from "./identity.ts";

/** Why a client may not join a channel. Code and message are those of the real server. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** The client and the channel. */
export interface AccessOptions {
  /** The topic without `realtime:`. */
  readonly topic: string;
  readonly isPrivate: boolean;
  /** The client's identity without a token. */
  readonly keyIdentity: Identity;
  readonly headers: Readonly<Record<string, string>>;
}

/** Dependencies of {@linkcode ChannelAccess}. */
export interface AccessServices extends RightsServices {
  readonly verifyToken: VerifyToken;
}

const ALL_RIGHTS: ChannelRights = { broadcast: true, presence: true };

/** A client's identity and rights on one channel, cached until a new token. */
export class ChannelAccess {
  readonly #options: AccessOptions;
  readonly #services: AccessServices;
  #identity: Identity;
  #token: string | null = null;
  #reads: ChannelRights = ALL_RIGHTS;
  #writes: Partial<Record<ChannelExtension, boolean>> = {};

  constructor(options: AccessOptions, services: AccessServices) {
    this.#options = options;
    this.#services = services;
    this.#identity = options.keyIdentity;
  }

  get identity(): Identity {
    return this.#identity;
  }

  /** The current token; `null` when the client has only a key. */
  get token(): string | null {
    return this.#token;
  }

  mayRead(extension: ChannelExtension): boolean {
    return this.#reads[extension];
  }

  /** Evaluates the policies at the first send and caches the result. */
  async mayWrite(extension: ChannelExtension): Promise<boolean> {
    if (!this.#options.isPrivate) return true;
    const known = this.#writes[extension];
    if (known !== undefined) return known;
    const answer = await mayWrite(this.#services, extension, this.#setting());
    this.#writes[extension] = answer;
    return answer;
  }

  /** Sets the token of the join and reads the rights. A key or no token means the key's role. */
  async open(token: string | null): Promise<Refusal | null> {
    return isUserToken(token)
      ? await this.#identify(token) ?? await this.#read()
      : await this.#read();
  }

  /**
   * Replaces the token. A key, no token or the same token changes nothing.
   *
   * @returns The outcome. After a refusal, the caller must close the channel.
   */
  async renew(token: string | null): Promise<Refusal | "unchanged" | "renewed"> {
    if (!isUserToken(token) || token === this.#token) return "unchanged";
    const before = this.#reads;
    const refusal = await this.#identify(token) ?? await this.#read();
    if (refusal !== null) return refusal;
    const isRevoked = before.broadcast && !this.#reads.broadcast ||
      before.presence && !this.#reads.presence;
    return isRevoked ? this.#unauthorized("You no longer have permission to read") : "renewed";
  }

  /** Verifies the current token again, because it may have expired. */
  async recheck(): Promise<Refusal | null> {
    return this.#token === null ? null : await this.#identify(this.#token);
  }

  async #identify(token: string): Promise<Refusal | null> {
    const result = await identify(token, this.#services.verifyToken);
    if (result.kind === "refused") return result;
    this.#identity = result.identity;
    this.#token = token;
    return null;
  }

  async #read(): Promise<Refusal | null> {
    if (!this.#options.isPrivate) return null;
    this.#writes = {};
    this.#reads = await readRights(this.#services, this.#setting());
    const mayRead = this.#reads.broadcast || this.#reads.presence;
    return mayRead ? null : this.#unauthorized("You do not have permissions to read");
  }

  #setting(): ClientSetting {
    const { topic, headers } = this.#options;
    return { topic, headers, identity: this.#identity };
  }

  #unauthorized(what: string): Refusal {
    return {
      code: "Unauthorized",
      message: `${what} from this Channel topic: ${this.#options.topic}`,
    };
  }
}

/** Clients without a session send their key instead of a token. */
function isUserToken(token: string | null): token is string {
  return token !== null && !token.startsWith("sb_");
}
