import {
  Bot,
  BrainCircuit,
  CircleX,
  GitFork,
  MessageCircleQuestion,
  MessageSquare,
  Wrench,
} from "@lucide/vue";
import type { TraceRow } from "./trace_model.ts";

/** Defined once and referenced by each row, which takes two elements instead of up to nine. */
export const ICONS = {
  task: Bot,
  model: BrainCircuit,
  user: MessageSquare,
  subtask: GitFork,
  review: MessageCircleQuestion,
  tool: Wrench,
  failed: CircleX,
} as const;

/** What a row is, as a picture. */
export function iconOf({ kind, step, isFailed }: TraceRow): keyof typeof ICONS {
  if (isFailed) return "failed";
  if (kind === "task") return "task";
  if (step?.kind === "model" || step?.kind === "user") return step.kind;
  if (step?.name === "create_subtask") return "subtask";
  if (step?.name === "request_human_review") return "review";
  return "tool";
}
