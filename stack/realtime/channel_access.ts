import {
  type ChannelExtension,
  type ChannelRights,
  mayWrite,
  readRights,
  type RightsServices,
} from "./channel_rights.ts";
import type { ClientSetting } from "./client_setting.ts";
import { identify, type Identity, type VerifyToken } from "./identity.ts";

/** Why a client may not be on a channel, in the real server's words. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Who wants to be on which channel. */
export interface AccessOptions {
  /** The topic without `realtime:`. */
  readonly topic: string;
  readonly isPrivate: boolean;
  /** Who the client is as long as it brings no token. */
  readonly keyIdentity: Identity;
  readonly headers: Readonly<Record<string, string>>;
}

/** What finding out about access needs. */
export interface AccessServices extends RightsServices {
  readonly verifyToken: VerifyToken;
}

const ALL_RIGHTS: ChannelRights = { broadcast: true, presence: true };

/** A client's identity on one channel and the rights that go with it, kept until a new token. */
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

  /** The token in use; `null` when the client is known by its key alone. */
  get token(): string | null {
    return this.#token;
  }

  mayRead(extension: ChannelExtension): boolean {
    return this.#reads[extension];
  }

  /** Asks the policies at the first send and remembers the answer. */
  async mayWrite(extension: ChannelExtension): Promise<boolean> {
    if (!this.#options.isPrivate) return true;
    const known = this.#writes[extension];
    if (known !== undefined) return known;
    const answer = await mayWrite(this.#services, extension, this.#setting());
    this.#writes[extension] = answer;
    return answer;
  }

  /** Takes the token of the join (keys and no token mean the key's role) and reads the rights. */
  async open(token: string | null): Promise<Refusal | null> {
    return isUserToken(token)
      ? await this.#identify(token) ?? await this.#read()
      : await this.#read();
  }

  /**
   * Takes a newer token; a key, no token or the same again changes nothing.
   *
   * @returns What became of it; a refusal means that the channel has to be closed.
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

  /** Verifies the token in use again, for it may have ended meanwhile. */
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

/** Clients without a session send their key where a token belongs. */
function isUserToken(token: string | null): token is string {
  return token !== null && !token.startsWith("sb_");
}
