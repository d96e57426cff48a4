import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { mount } from "@vue/test-utils";
import { defineComponent } from "vue";
import { type ShownParts, useShownParts } from "./shown_parts.ts";

type Report = (entries: readonly unknown[]) => void;
let report: Report;
const watched = new Set<Element>();

beforeEach(() => {
  watched.clear();
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(callback: Report) {
        report = callback;
      }
      observe = (element: Element) => void watched.add(element);
      unobserve = (element: Element) => void watched.delete(element);
      disconnect = () => watched.clear();
    },
  );
});

afterEach(() => vi.unstubAllGlobals());

function open(): { parts: ShownParts; close: () => void } {
  let parts: ShownParts | undefined;
  const page = mount(defineComponent({
    setup() {
      parts = useShownParts();
      return () => null;
    },
  }));
  if (parts === undefined) throw new Error("The component has no parts");
  return { parts, close: () => page.unmount() };
}

function entry(target: Element, isIntersecting: boolean) {
  return { target, isIntersecting, boundingClientRect: { height: 900 } };
}

test("a part far from the window is not drawn, and keeps its height", () => {
  const { parts, close } = open();
  const [near, far] = [document.createElement("div"), document.createElement("div")];
  parts.observe(0, near);
  parts.observe(1, far);

  report([entry(near, true), entry(far, false)]);
  expect([parts.heightOf(0), parts.heightOf(1)]).toEqual([null, 900]);
  report([entry(far, true)]);
  expect(parts.heightOf(1)).toBe(null);
  close();
  expect(watched.size).toBe(0);
});

test("the part that has the focus stays", () => {
  const { parts, close } = open();
  const part = document.createElement("div");
  const button = document.createElement("button");
  part.append(button);
  document.body.append(part);
  button.focus();
  parts.observe(0, part);

  report([entry(part, false)]);
  expect(parts.heightOf(0)).toBe(null);
  part.remove();
  close();
});

test("a removed element is not observed, and its late report changes nothing", () => {
  const { parts, close } = open();
  const [first, second] = [document.createElement("div"), document.createElement("div")];
  parts.observe(0, first);
  parts.observe(0, second);

  report([entry(first, false)]);
  expect(parts.heightOf(0)).toBe(null);
  expect([...watched]).toEqual([second]);
  parts.observe(0, null);
  expect(watched.size).toBe(0);
  close();
});
