import type { VNode } from "vue";

const PAGE_TITLE = "main [data-page-title]";

/**
 * Keeps the focus on the page. Browsers drop it when its element is disabled or removed: a user of
 * the keyboard or of a screen reader would then be at the start of the document.
 */
export function keepFocus(): void {
  let focused: Element | null = null;
  /** The elements around the focused one, the nearest first. */
  let around: readonly Element[] = [];
  const follow = () => {
    focused = hasNoFocus() ? null : document.activeElement;
    around = focused === null ? [] : ancestorsOf(focused);
  };
  const observer = new MutationObserver((records) => {
    if (focused === null || !hasNoFocus()) return;
    if (focused.isConnected) {
      // It was disabled, such as during a request, and no longer is.
      if (!focused.matches(":disabled")) focusOn(focused);
      return;
    }
    const place = placeOf(records, around);
    // A dialog that closes, or the code of a page, may move the focus by itself.
    setTimeout(() => {
      if (hasNoFocus()) showPlace(place);
    });
  });
  const forget = () => {
    focused = null;
  };
  addEventListener("focusin", follow);
  // A press outside of any field takes the focus away, as the user wants it.
  addEventListener("pointerdown", forget);
  addEventListener("click", follow);
  observer.observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ["disabled"],
  });
}

/** Moves the focus to a new page: to its title, or while it loads to where the title will be. */
export function focusPage(): void {
  focusOn(document.querySelector(PAGE_TITLE) ?? document.querySelector("main"));
}

/** When a title is mounted: passes the focus of the page, which was loading, to it. */
export function takePageFocus({ el: title }: VNode): void {
  if (document.activeElement?.matches("main")) focusOn(title);
}

function hasNoFocus(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

function ancestorsOf(element: Element): Element[] {
  const { parentElement: parent } = element;
  return parent === null || parent === document.body ? [] : [parent, ...ancestorsOf(parent)];
}

/** Returns what is before the removed element, or around it. */
function placeOf(
  records: readonly MutationRecord[],
  around: readonly Element[],
): Element | undefined {
  const parent = around.find(({ isConnected }) => isConnected);
  const before = records.find(({ target, removedNodes }) =>
    target === parent && removedNodes.length > 0
  )?.previousSibling;
  const neighbor = elementBefore(before ?? null);
  // Another press of Enter must not press another button.
  return neighbor?.isConnected && !neighbor.matches("button, a") ? neighbor : parent;
}

/** Returns the element with text that is nearest before a place. */
function elementBefore(node: Node | null): Element | null {
  const isElement = node instanceof Element && node.textContent.trim() !== "";
  return node === null || isElement ? node : elementBefore(node.previousSibling);
}

function showPlace(place: Element | undefined): void {
  if (place?.isConnected && !place.matches("main")) focusOn(place);
  if (hasNoFocus()) focusPage();
}

function focusOn(element: unknown): void {
  if (!(element instanceof HTMLElement)) return;
  if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) {
    element.tabIndex = -1;
    element.addEventListener("blur", () => element.removeAttribute("tabindex"), { once: true });
  }
  element.focus({ preventScroll: true });
}
