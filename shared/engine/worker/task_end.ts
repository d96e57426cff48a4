/** How a worker's part in a task ended. */
export type TaskEnd =
  | "completed"
  | "failed"
  | "cancelled"
  /** Waits for subtasks or a person. */
  | "parked"
  /** Failed, and will be retried. */
  | "retried"
  /** Returned with its checkpoint. */
  | "yielded"
  /** Dropped without a write: another worker has it, or the database does not respond. */
  | "lost";
