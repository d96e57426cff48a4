import { onUnmounted, shallowRef } from "vue";

/** Parts this near to the window are drawn, so that scrolling does not show gaps. */
const MARGIN = "1200px";

/** Which parts of a long list are near the window. */
export interface ShownParts {
  /** The height in pixels of a part that is not drawn; null for a part to draw. */
  heightOf(part: number): number | null;
  /** Observes the element of a part; null when it is removed. */
  observe(part: number, element: Element | null): void;
}

/** Draws only the parts of a list that are near the window. The others keep their height. */
export function useShownParts(): ShownParts {
  const heights = shallowRef<ReadonlyMap<number, number>>(new Map());
  const elements = new Map<number, Element>();
  const parts = new WeakMap<Element, number>();
  // Tests without a window draw all parts.
  const observer = "IntersectionObserver" in globalThis
    ? new IntersectionObserver(update, { rootMargin: `${MARGIN} 0px` })
    : null;
  onUnmounted(() => observer?.disconnect());

  function update(entries: readonly IntersectionObserverEntry[]): void {
    const next = new Map(heights.value);
    for (const { target, isIntersecting, boundingClientRect: { height } } of entries) {
      const part = parts.get(target);
      if (part === undefined || elements.get(part) !== target) continue;
      if (isIntersecting) next.delete(part);
      // The part that has the focus keeps it.
      else if (!target.contains(document.activeElement)) next.set(part, height);
    }
    heights.value = next;
  }

  return {
    heightOf: (part) => heights.value.get(part) ?? null,
    observe(part, element) {
      const before = elements.get(part);
      if (before === element) return;
      if (before !== undefined) observer?.unobserve(before);
      if (element === null) {
        elements.delete(part);
        return;
      }
      elements.set(part, element);
      parts.set(element, part);
      observer?.observe(element);
    },
  };
}
