import { type MaybeRefOrGetter, onScopeDispose, toValue } from "vue";
import { hasSingleKeys } from "./preferences.ts";

/** A key or a sequence of keys, and its action. */
export interface Shortcut {
  /** `mod+k`, `/`, or a sequence such as `g j`. */
  readonly keys: string;
  readonly label: string;
  run(event: KeyboardEvent): void;
}

const SEQUENCE_MS = 1_200;
const groups: MaybeRefOrGetter<readonly Shortcut[]>[] = [];
let pending: { readonly key: string; readonly at: number } | undefined;

/** All current shortcuts, for the list that `?` opens. */
export function activeShortcuts(): readonly Shortcut[] {
  return groups.flatMap((group) => toValue(group));
}

/** Adds shortcuts for the lifetime of the component; later ones take precedence. */
export function useShortcuts(shortcuts: MaybeRefOrGetter<readonly Shortcut[]>): void {
  groups.push(shortcuts);
  onScopeDispose(() => groups.splice(groups.indexOf(shortcuts), 1));
}

/** Starts listening to the keyboard. */
export function watchKeyboard(): void {
  addEventListener("keydown", (event) => {
    const keys = pressedKeys(event);
    if (keys === null) return;
    const found = activeShortcuts().findLast((shortcut) => shortcut.keys === keys);
    if (found === undefined) return;
    event.preventDefault();
    found.run(event);
  });
}

function pressedKeys(event: KeyboardEvent): string | null {
  if (event.defaultPrevented || event.isComposing) return null;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.metaKey || event.ctrlKey) return event.altKey ? null : `mod+${key.toLowerCase()}`;
  if (event.altKey || !hasSingleKeys.value || isTyping(event) || isInDialog(event)) return null;
  const before = pending;
  pending = { key, at: event.timeStamp };
  const isSequence = before?.key === "g" && event.timeStamp - before.at < SEQUENCE_MS;
  return isSequence ? `g ${key}` : key;
}

function isTyping({ target }: Event): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
      target.shadowRoot !== null);
}

function isInDialog({ target }: Event): boolean {
  return target instanceof HTMLElement && target.closest('[role="dialog"]') !== null;
}
