/** How a worker's part in a task ended. */
export type TaskEnd =
  | "completed"
  | "failed"
  | "cancelled"
  /** Waits for subtasks or a person. */
  | "parked"
  /** Failed, and will be tried again. */
  | "retried"
  /** Handed back with its checkpoint. */
  | "yielded"
  /** Let go without a word: another worker has it, or the database does not answer. */
  | "lost";
