/** The actor of a call, as returned by `private.calling_actor()` in SQL. */
export type Actor =
  /** A person in their own session. */
  | "user"
  /** A person, through an OAuth client, which has only the scopes of its grant. */
  | "client"
  /** A task, on its owner's behalf. */
  | "agent"
  /** The project itself, with a secret key. */
  | "service";
