import type { JsonObject } from "../values/json.ts";

/** A signed-in user. */
export interface UserCaller {
  readonly kind: "user";
  readonly userId: string;
  /** OAuth client that the token was issued to; null for a session of the project's own app. */
  readonly clientId: string | null;
  /** All claims of the token. */
  readonly claims: JsonObject;
}

/** A task, on its owner's behalf: a request that an agent's tool caused. */
export interface AgentCaller {
  readonly kind: "agent";
  /** Null for a task without a user. */
  readonly userId: string | null;
  readonly agentId: string | null;
  /** Null for an agent outside of a task. */
  readonly taskId: string | null;
  /** OAuth client of the token that the tool sent, whose scopes then apply too. */
  readonly clientId: string | null;
}

/** The sender of a request, as determined by `authenticate()`. */
export type Caller =
  /** A person: in their own session, or through the OAuth client `clientId`. */
  | UserCaller
  | AgentCaller
  /** A holder of a secret key: the project itself. */
  | { readonly kind: "service" };

/** Kinds of caller that an endpoint accepts. */
export type CallerKind = Caller["kind"];
