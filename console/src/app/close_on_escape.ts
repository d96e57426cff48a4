import { onScopeDispose } from "vue";

/**
 * Closes a panel when Escape is pressed, wherever the focus is. A dialog above it, and a search
 * with a text, use the key themselves.
 */
export function closeOnEscape(close: () => void): void {
  const press = ({ key, target, isComposing }: KeyboardEvent) => {
    if (key !== "Escape" || isComposing) return;
    const isSearching = target instanceof HTMLInputElement && target.type === "search" &&
      target.value !== "";
    if (!isSearching && document.querySelector('[role="dialog"]') === null) close();
  };
  // Before the dialog, which would be gone after its own listener.
  addEventListener("keydown", press, { capture: true });
  onScopeDispose(() => removeEventListener("keydown", press, { capture: true }));
}
