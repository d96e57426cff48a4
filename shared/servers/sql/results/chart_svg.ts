import type { Chart, ChartPoint } from "./chart.ts";

const WIDTH = 640;
const HEIGHT = 360;
const LEFT = 70;
const RIGHT = 16;
const TOP = 28;
const BOTTOM = 64;
const COLORS = ["#3b6fb6", "#d1733b", "#4d9a5b", "#b64a5c", "#7a62a8", "#8a8a3a"] as const;
const TICKS = 5;
const MAX_LABELS = 12;
const LABEL_CHARACTERS = 14;
/** Wider bars look like areas; a single row would fill the chart. */
const MAX_BAR_WIDTH = 64;
/** Lines with at most this many points mark each of them. */
const MAX_MARKED_POINTS = 31;

/** The scales from values to pixels. */
interface Scales {
  x(point: ChartPoint, index: number): number;
  y(value: number): number;
  readonly low: number;
  readonly high: number;
  /** Width per row. */
  readonly step: number;
}

/** The chart as an SVG of plain shapes and texts. */
export function chartSvg(chart: Chart): string {
  const scales = scalesOf(chart);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" ` +
    `font-family="sans-serif" font-size="11">`,
    `<title>${escaped(`${chart.series.join(", ")} by ${chart.xName}`)}</title>`,
    ...axis(scales),
    ...chart.series.flatMap((_, series) => marks(chart, series, scales)),
    ...labels(chart, scales),
    ...legend(chart),
    "</svg>",
  ].join("\n");
}

function scalesOf({ mark, points, xKind }: Chart): Scales {
  const values = points.flatMap(({ values }) => values.filter((value) => value !== null));
  const lowest = values.reduce((low, value) => Math.min(low, value), Infinity);
  const highest = values.reduce((high, value) => Math.max(high, value), -Infinity);
  // The length of a bar is its value, so bars start at 0.
  // A single value is compared with 0 too.
  const startsAtZero = mark === "bar" || lowest === highest;
  const low = startsAtZero ? Math.min(0, lowest) : lowest;
  const high = startsAtZero ? Math.max(0, highest) : highest;
  const range = high - low || 1;
  const xs = points.flatMap(({ x }) => x === null ? [] : [x]);
  const first = xs.reduce((least, x) => Math.min(least, x), Infinity);
  const span = xs.reduce((most, x) => Math.max(most, x), -Infinity) - first;
  const width = WIDTH - LEFT - RIGHT;
  const step = width / Math.max(1, points.length);
  return {
    low: Number.isFinite(low) ? low : 0,
    high: Number.isFinite(high) ? high : 1,
    step,
    y: (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / range),
    x: ({ x }, index) =>
      xKind === "text" || x === null
        ? LEFT + step * (index + 0.5)
        : LEFT + 8 + (width - 16) * (span === 0 ? 0.5 : (x - first) / span),
  };
}

function axis({ low, high, y }: Scales): string[] {
  return Array.from({ length: TICKS }, (_, index) => low + (high - low) * (index / (TICKS - 1)))
    .filter((value, index, all) => all.indexOf(value) === index)
    .map((value) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${px(y(value))}" y2="${px(y(value))}" ` +
      `stroke="#ddd"/><text x="${LEFT - 6}" y="${px(y(value) + 4)}" text-anchor="end">` +
      `${escaped(shortNumber(value))}</text>`
    );
}

function marks(chart: Chart, series: number, scales: Scales): string[] {
  const color = COLORS[series % COLORS.length];
  const placed = chart.points.flatMap((point, index) => {
    const value = point.values[series] ?? null;
    return value === null ? [] : [{ x: scales.x(point, index), value }];
  });
  switch (chart.mark) {
    case "bar": {
      const width = Math.min(scales.step * 0.8 / chart.series.length, MAX_BAR_WIDTH);
      return placed.map(({ x, value }) => {
        const left = x + width * (series - chart.series.length / 2);
        const [top, bottom] = [scales.y(Math.max(0, value)), scales.y(Math.min(0, value))];
        return `<rect x="${px(left)}" y="${px(top)}" width="${px(width)}" ` +
          `height="${px(bottom - top)}" fill="${color}"/>`;
      });
    }
    case "line": {
      const path = placed.toSorted((a, b) => a.x - b.x)
        .map(({ x, value }) => `${px(x)},${px(scales.y(value))}`).join(" ");
      return [
        `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
        ...(placed.length > MAX_MARKED_POINTS ? [] : points(placed, color, scales)),
      ];
    }
    case "point":
      return points(placed, color, scales);
  }
}

function points(
  placed: readonly { readonly x: number; readonly value: number }[],
  color: string | undefined,
  scales: Scales,
): string[] {
  return placed.map(({ x, value }) =>
    `<circle cx="${px(x)}" cy="${px(scales.y(value))}" r="3" fill="${color}"/>`
  );
}

function labels({ points, xName }: Chart, scales: Scales): string[] {
  const every = Math.ceil(points.length / MAX_LABELS);
  const texts = points.flatMap((point, index) =>
    index % every === 0
      ? [
        `<text x="${px(scales.x(point, index))}" y="${HEIGHT - BOTTOM + 16}" ` +
        `text-anchor="middle">${escaped(shortText(point.label))}</text>`,
      ]
      : []
  );
  return [
    ...texts,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - BOTTOM + 36}" text-anchor="middle" ` +
    `font-weight="bold">${escaped(shortText(xName, 60))}</text>`,
  ];
}

function legend({ series }: Chart): string[] {
  const width = (WIDTH - LEFT - RIGHT) / series.length;
  return series.map((name, index) =>
    `<rect x="${px(LEFT + width * index)}" y="8" width="10" height="10" ` +
    `fill="${COLORS[index % COLORS.length]}"/><text x="${px(LEFT + width * index + 14)}" y="17">` +
    `${escaped(shortText(name, Math.floor(width / 7)))}</text>`
  );
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function shortNumber(value: number): string {
  const isPlain = value === 0 || (Math.abs(value) >= 0.01 && Math.abs(value) < 1e6);
  return isPlain ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}

function shortText(text: string, most = LABEL_CHARACTERS): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}

/** Also removes control characters, which XML forbids. */
function escaped(text: string): string {
  return text
    // deno-lint-ignore no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .toWellFormed()
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
