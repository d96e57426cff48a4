import type { JsonObject } from "../json.ts";

/** A signed-in user. */
export interface UserCaller {
  readonly kind: "user";
  readonly userId: string;
  /** OAuth client that the token was given to; null for a session of the project's own app. */
  readonly clientId: string | null;
  /** All that the token says. */
  readonly claims: JsonObject;
}

/** A task, on its owner's behalf: a request that an agent's tool caused. */
export interface AgentCaller {
  readonly kind: "agent";
  /** Null: of a task that belongs to no user. */
  readonly userId: string | null;
  readonly agentId: string | null;
  /** Null for an agent that was called outside of a task. */
  readonly taskId: string | null;
  /** OAuth client of the token that the tool sent, whose scopes then hold too. */
  readonly clientId: string | null;
}

/** Who sent a request. The one place that decides it in TypeScript is `authenticate()`. */
export type Caller =
  /** A person: in a session of their own, or through the OAuth client `clientId`. */
  | UserCaller
  | AgentCaller
  /** A holder of a secret key: the project itself. */
  | { readonly kind: "service" };

/** Kinds of caller that an endpoint accepts. */
export type CallerKind = Caller["kind"];
