/** Who acts, as `private.calling_actor()` says it in SQL. */
export type Actor =
  /** A person, in a session of their own. */
  | "user"
  /** A person, through an OAuth client, which has only the scopes of its grant. */
  | "client"
  /** A task, on its owner's behalf. */
  | "agent"
  /** The project itself, by a secret key. */
  | "service";
