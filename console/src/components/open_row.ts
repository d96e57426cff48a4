/** What does something itself when it is pressed. */
const ACTIONS = "a, button, input, label, .choose";

/** The keys of a click that opens a new tab, on any system. */
const NEW_TAB = { ctrlKey: true, metaKey: true, shiftKey: false };

/**
 * Opens the link of a table's row, as a handler of `click`, `auxclick` and `keydown.enter` of the
 * row. Modifiers and the middle button do what they do on the link, and text can be selected.
 */
export function openRow(event: MouseEvent | KeyboardEvent): void {
  const row = event.currentTarget as HTMLElement;
  const target = event.target as HTMLElement;
  const link = row.querySelector("a");
  if (event instanceof KeyboardEvent) {
    if (target.closest("a, button") === null) link?.click();
    return;
  }
  const isSelecting = getSelection()?.isCollapsed === false;
  if (target.closest(ACTIONS) !== null || isSelecting || event.button > 1) return;
  // Browsers open no tab for the middle button of a script, but for the keys that do the same.
  const { ctrlKey, metaKey, shiftKey } = event.button === 1 ? NEW_TAB : event;
  link?.dispatchEvent(new MouseEvent("click", { cancelable: true, ctrlKey, metaKey, shiftKey }));
}
