import type { ProjectModule } from "../deploy/module_graph.ts";

type ImportingModule = Pick<ProjectModule, "path" | "imports">;

/**
 * The layers of the product, outermost first. A module imports only from its own layer and lower
 * ones; `core` makes decisions and does no I/O.
 */
const LAYERS: readonly { readonly name: string; readonly paths: readonly RegExp[] }[] = [
  { name: "entries", paths: [/^supabase\/functions\//] },
  { name: "composition", paths: [/^shared\/app\//] },
  {
    name: "use cases",
    paths: [/^shared\/(execute|feedback|mcp|servers|webhooks|work|worker|quoth\/sync)\//],
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
    paths: [/^shared\/(errors|json|log|vendor)\//, /^shared\/[a-z0-9_]+\.ts$/],
  },
];

/** The core depends on ports, so they belong to the core in any folder. */
const PORTS: readonly RegExp[] = [/_port\.ts$/];

/** The generated closed sets of the database. They are only names, so every layer may use them. */
const GENERATED_NAMES = "shared/platform/db/closed_sets.ts";

const STACK_FOLDER = "stack/";

/** The adapter modules that connect to Postgres. */
const STACK_MAY_IMPORT: ReadonlySet<string> = new Set([
  "shared/platform/db/sql_client.ts",
  "shared/platform/db/tls_socket.ts",
]);

/** APIs that the core must not use: effects are passed as parameters. */
const EFFECTS: readonly RegExp[] = [
  /\bDeno\./,
  /\bfetch\(/,
  /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/,
  /\bMath\.random\(|\bcrypto\.(randomUUID|getRandomValues)\(/,
  /\bset(Timeout|Interval)\(/,
];

/**
 * Finds upward imports, cycles between modules or folders, and unknown folders.
 */
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
  return [...problems, ...cyclesIn(modules)];
}

/**
 * Finds forbidden imports and cycles in the embedded Supabase. It is a separate product that may
 * import only itself and the foundation.
 */
export function misdirectedStackImports(modules: readonly ImportingModule[]): string[] {
  const own = modules.filter(({ path }) => path.startsWith(STACK_FOLDER));
  const problems = own.flatMap(({ path, imports }) =>
    imports.filter((target) => !isOpenToStack(target))
      .map((target) => `${path} (embedded Supabase) imports ${target}`)
  );
  return [...problems, ...cyclesIn(own)];
}

function isOpenToStack(target: string): boolean {
  return target.startsWith(STACK_FOLDER) || layerOf(target) === layerNamed("foundation") ||
    STACK_MAY_IMPORT.has(target);
}

/** Finds effects in the source of a core module. */
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

function cyclesIn(modules: readonly ImportingModule[]): string[] {
  const graphs = [modules, foldersOf(modules)];
  return graphs.flatMap((graph) => {
    const cycle = findCycle(graph);
    return cycle === null ? [] : [`Import cycle: ${cycle.join(" → ")}`];
  });
}

/** Merges modules by folder. A file at the root of a product counts as a folder. */
function foldersOf(modules: readonly ImportingModule[]): ImportingModule[] {
  const importsOf = new Map<string, Set<string>>();
  for (const { path, imports } of modules) {
    const folder = folderOf(path);
    const targets = importsOf.get(folder) ?? new Set();
    for (const target of imports) {
      if (folderOf(target) !== folder) targets.add(folderOf(target));
    }
    importsOf.set(folder, targets);
  }
  return [...importsOf].map(([path, targets]) => ({ path, imports: [...targets] }));
}

function folderOf(path: string): string {
  return path.split("/").length > 2 ? path.slice(0, path.lastIndexOf("/")) : path;
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
