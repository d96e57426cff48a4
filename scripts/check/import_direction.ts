import type { ProjectModule } from "../deploy/module_graph.ts";

type ImportingModule = Pick<ProjectModule, "path" | "imports">;

/**
 * The layers of the product, outermost first. A module imports from its own layer and from those
 * below it, never from above; `core` is what decides, and does no I/O.
 */
const LAYERS: readonly { readonly name: string; readonly paths: readonly RegExp[] }[] = [
  { name: "entries", paths: [/^supabase\/functions\//] },
  { name: "composition", paths: [/^shared\/app\//] },
  {
    name: "use cases",
    paths: [/^shared\/(execute|feedback|mcp|servers|work|worker|quoth\/sync)\//],
  },
  {
    name: "adapters",
    paths: [
      /^shared\/(config|db|http|isolate|llm|net|tasks|telemetry|tools|quoth\/(embedders|github))\//,
    ],
  },
  {
    name: "core",
    paths: [/^shared\/(agent|secrets|skills|sql|tool_contracts|tool_schemas|quoth\/markdown)\//],
  },
  {
    name: "foundation",
    paths: [/^shared\/(errors|json|log|vendor)\//, /^shared\/[a-z_]+\.ts$/],
  },
];

/** Ports are what the core is written against, so they count as its own wherever they stand. */
const PORTS: readonly RegExp[] = [/_port\.ts$/];

/** The database's closed sets, generated: names without code, for everybody to use. */
const GENERATED_NAMES = "shared/db/database.types.ts";

/** What the core may not touch: effects reach it as parameters. */
const EFFECTS: readonly RegExp[] = [
  /\bDeno\./,
  /\bfetch\(/,
  /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/,
  /\bMath\.random\(|\bcrypto\.(randomUUID|getRandomValues)\(/,
  /\bset(Timeout|Interval)\(/,
];

/** Every import that goes up a layer, every cycle between modules, every unknown folder. */
export function misdirectedImports(modules: readonly ImportingModule[]): string[] {
  const problems: string[] = [];
  for (const { path, imports } of modules) {
    const from = layerOf(path);
    if (from === null) problems.push(`${path} belongs to no layer`);
    for (const target of imports) {
      const to = layerOf(target);
      if (from !== null && to !== null && to < from) {
        problems.push(`${path} (${nameOf(from)}) imports ${target} (${nameOf(to)})`);
      }
    }
  }
  const cycle = findCycle(modules);
  if (cycle !== null) problems.push(`Imports go round: ${cycle.join(" → ")}`);
  return problems;
}

/** The effects that a module of the core has, as they stand in its source. */
export function effectsInCore(path: string, source: string): string[] {
  if (layerOf(path) !== layerNamed("core")) return [];
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  return EFFECTS.flatMap((effect) => code.match(effect)?.[0] ?? [])
    .map((effect) => `${path} is core and uses ${effect}`);
}

function layerOf(path: string): number | null {
  if (path === GENERATED_NAMES) return layerNamed("foundation");
  if (PORTS.some((port) => port.test(path))) return layerNamed("core");
  const index = LAYERS.findIndex(({ paths }) => paths.some((pattern) => pattern.test(path)));
  return index < 0 ? null : index;
}

function layerNamed(name: string): number {
  return LAYERS.findIndex((layer) => layer.name === name);
}

function nameOf(layer: number): string {
  return LAYERS[layer]?.name ?? "no layer";
}

function findCycle(modules: readonly ImportingModule[]): string[] | null {
  const importsOf = new Map(modules.map(({ path, imports }) => [path, imports]));
  const finished = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] | null => {
    const start = trail.indexOf(path);
    if (start >= 0) return [...trail.slice(start), path];
    if (finished.has(path)) return null;
    for (const target of importsOf.get(path) ?? []) {
      const cycle = visit(target, [...trail, path]);
      if (cycle !== null) return cycle;
    }
    finished.add(path);
    return null;
  };
  for (const { path } of modules) {
    const cycle = visit(path, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
