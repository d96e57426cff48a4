import { expect, test } from "vitest";
import type uPlot from "uplot";
import { type Drawing, stack, timeMarks, valueRange, wholeSteps } from "./chart_scales.ts";

const series = (...amounts: (number | null)[]) => ({ amounts, color: "" });

test("stacked bars begin where the ones below end, also where one has no value", () => {
  expect(stack([series(1, null, 3), series(4, 5, null)])).toEqual([
    { from: [0, 0, 0], to: [1, 0, 3] },
    { from: [1, 0, 3], to: [5, 5, 3] },
  ]);
});

test("the range of bars begins at 0, that of lines only if they are not flat above it", () => {
  const rangeOf = (drawing: Drawing, least: number, most: number) =>
    valueRange(drawing)({} as uPlot, least, most, "y");

  expect(rangeOf("bars", 90, 100)).toEqual([0, 105]);
  expect(rangeOf("lines", 90, 100)).toEqual([89, 101]);
  expect(rangeOf("lines", 10, 100)).toEqual([0, 105]);
  expect(rangeOf("bars", -20, -10)).toEqual([-21, 0]);
  expect(rangeOf("bars", -20, 100)).toEqual([-21, 105]);
  expect(rangeOf("bars", 0, 0)).toEqual([0, 1]);
  expect(rangeOf("lines", 5, 5)).toEqual([4, 6]);
  expect(rangeOf("lines", -20, -10)).toEqual([-21, 0]);
});

test("an axis of whole numbers has no halves", () => {
  expect(wholeSteps([series(1, null), series(2, 3)])?.[0]).toBe(1);
  expect(wholeSteps([series(1, 2.5)])).toBeUndefined();
});

test("the marks of a time axis name what differs between them", () => {
  const day = 86_400;
  const at = Date.UTC(2026, 7, 31) / 1_000;
  expect(timeMarks([at, at + 7 * day], 7 * day, false)).toEqual(["Aug 31", "Sep 7"]);
  expect(timeMarks([at], 30 * day, false)).toEqual(["Aug 2026"]);
  expect(timeMarks([at], 366 * day, false)).toEqual(["2026"]);
  expect(timeMarks([at + 3_600], 3_600, false)).toEqual(["Aug 31, 01:00"]);
});
