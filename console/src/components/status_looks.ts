import {
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  GitFork,
  Hourglass,
  LoaderCircle,
  MessageCircleQuestion,
} from "@lucide/vue";

/** The icon, color and text of a status of a job, task, step or call. */
export const STATUS_LOOKS = {
  pending: { icon: CircleDashed, tone: "", text: "Pending" },
  running: { icon: LoaderCircle, tone: "info", text: "Running" },
  pending_subtask: { icon: GitFork, tone: "violet", text: "Waiting for subtasks" },
  waiting: { icon: Hourglass, tone: "warn", text: "Waiting" },
  needs_human_review: { icon: MessageCircleQuestion, tone: "warn", text: "Needs review" },
  completed: { icon: CircleCheck, tone: "good", text: "Completed" },
  success: { icon: CircleCheck, tone: "good", text: "Success" },
  failed: { icon: CircleX, tone: "bad", text: "Failed" },
  error: { icon: CircleX, tone: "bad", text: "Error" },
  timeout: { icon: CircleX, tone: "bad", text: "Timeout" },
  stopped: { icon: CircleSlash, tone: "", text: "Stopped" },
  cancelled: { icon: CircleSlash, tone: "", text: "Cancelled" },
} as const;

/** The statuses of a job, in the order of its lifecycle. */
export const JOB_STATUSES = [
  "pending",
  "running",
  "pending_subtask",
  "needs_human_review",
  "completed",
  "failed",
  "cancelled",
] as const;

/** Statuses as filter choices. */
export function statusOptions(
  statuses: readonly (keyof typeof STATUS_LOOKS)[],
): { readonly value: string; readonly text: string }[] {
  return statuses.map((value) => ({ value, text: STATUS_LOOKS[value].text }));
}
