import { readonly, ref } from "vue";
import { toRequestError } from "../project/request_error.ts";
import { withHint } from "../../../shared/platform/errors/with_hint.ts";

/** A short message about an event. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
  readonly code?: string;
}

const SHOWN_MS = 6_000;
const list = ref<Toast[]>([]);
let lastId = 0;

export const toasts = readonly(list);

/** Reports a success. */
export function showSuccess(text: string): void {
  show({ text, tone: "good" });
}

/** Reports a failure; the message stays until the user dismisses it. */
export function showFailure(error: unknown): void {
  const { message, hint, code } = toRequestError(error);
  show({ text: withHint(message, hint), tone: "bad", code });
}

export function dismissToast(id: number): void {
  list.value = list.value.filter((toast) => toast.id !== id);
}

function show(toast: Omit<Toast, "id">): void {
  const id = ++lastId;
  list.value = [...list.value.slice(-3), { ...toast, id }];
  if (toast.tone === "good") setTimeout(() => dismissToast(id), SHOWN_MS);
}
