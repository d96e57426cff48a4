import { expect, test } from "vitest";
import { readFileSync } from "node:fs";

/** Vitest runs in the folder of the console. */
const TOKENS = readFileSync("src/design/tokens.css", "utf8");

/** Both colors of a custom property: on light and on dark pages. */
function colorsOf(name: string): readonly [string, string] {
  const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(TOKENS);
  if (found?.[1] === undefined || found[2] === undefined) throw new Error(`No color --${name}`);
  return [found[1], found[2]];
}

const linear = (hex: string) =>
  [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];

function luminance(hex: string): number {
  const [red, green, blue] = linear(hex);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** What people see: all colors, or those that lack one kind of cone (Machado et al., 2009). */
const VISIONS = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
} as const;

/** The distance in OKLab, in which 0.02 is just noticeable. */
function distance(one: string, other: string, vision: keyof typeof VISIONS): number {
  const lab = (hex: string) => {
    const seen = linear(hex);
    const [r = 0, g = 0, b = 0] = VISIONS[vision].map((row) =>
      row.reduce<number>((sum, part, at) => sum + part * (seen[at] ?? 0), 0)
    );
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  };
  const [first, second] = [lab(one), lab(other)];
  return Math.hypot(...first.map((part, at) => part - (second[at] ?? 0)));
}

const SERIES = Array.from({ length: 8 }, (_, at) => colorsOf(`series-${at + 1}`));

test.each([["light", 0], ["dark", 1]] as const)(
  "the colors of series differ from each other and from the page, on %s pages",
  (_scheme, at) => {
    for (const surface of ["surface", "surface-raised"]) {
      for (const color of SERIES) {
        expect(contrast(color[at], colorsOf(surface)[at]), color[at]).toBeGreaterThanOrEqual(3);
      }
    }
    SERIES.forEach((one, index) => {
      for (const other of SERIES.slice(index + 1)) {
        for (const vision of ["normal", "deuteranopia", "protanopia"] as const) {
          const difference = distance(one[at], other[at], vision);
          expect(difference, `${one[at]} and ${other[at]}, ${vision}`).toBeGreaterThan(0.09);
        }
      }
    });
  },
);
