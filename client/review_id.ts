/** A review of a task. */
export interface ReviewPosition {
  readonly task_id: string;
  readonly seq: number;
}

/** The id of a review, as pages refer to it. */
export function reviewId({ task_id, seq }: ReviewPosition): string {
  return `${task_id}:${seq}`;
}
