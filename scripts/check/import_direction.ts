import { posix } from "node:path";
import type { ProjectModule } from "../deploy/module_graph.ts";

type ImportingModule = Pick<ProjectModule, "path" | "imports">;

/**
 * The wings of the product below its entries, outermost first. A module imports only from its own
 * wing and those after it.
 */
const WINGS = ["app", "servers", "engine", "gateway", "models", "platform", "vendor"] as const;
const ENTRIES = /^supabase\/functions\//;
const SHARED_WING = /^shared\/([a-z]+)\//;

/** What every wing uses: values and the generated names of the database. */
const FOUNDATION: readonly RegExp[] = [
  /^shared\/platform\/(errors|json|log|values)\//,
  /^shared\/vendor\//,
  /^shared\/platform\/db\/closed_sets\.ts$/,
];

/** Users import it into their own projects, so it imports nothing of the product. */
const CLIENT_FOLDER = "client/";

/** The core makes decisions and does no I/O. It depends on ports, which belong to it anywhere. */
const CORE: readonly RegExp[] = [
  /^shared\/engine\/(agent|definitions|skills)\//,
  /^shared\/gateway\/tool_contracts\//,
  /^shared\/models\/tool_schemas\//,
  /^shared\/platform\/secrets\//,
  /^shared\/servers\/(sql|quoth\/markdown)\//,
  /^shared\/models\/llm\/(file_tokens|native_output)\.ts$/,
  /_port\.ts$/,
];

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
 * Finds upward imports, imports from the core to adapters, cycles between modules or folders, and
 * folders outside the wings.
 */
export function misdirectedImports(modules: readonly ImportingModule[]): string[] {
  const problems: string[] = [];
  for (const { path, imports } of modules) {
    const from = wingOf(path);
    if (from === null) {
      problems.push(`${path} belongs to no wing`);
      continue;
    }
    for (const target of imports) {
      const to = wingOf(target);
      if (to !== null && to < from) {
        problems.push(`${path} (${nameOf(from)}) imports ${target} (${nameOf(to)})`);
      } else if (isIn(CORE, path) && !isIn(CORE, target) && !isIn(FOUNDATION, target)) {
        problems.push(`${path} (core) imports ${target} (adapter)`);
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

/** Frameworks with hooks of the client. */
const FRAMEWORKS: ReadonlySet<string> = new Set(["react", "vue"]);

/**
 * Finds imports from outside of the client. Users import it into their own projects, so it is
 * complete in itself; a test may compare it with the product. The entry for a framework imports the
 * framework. Only the command beside it uses Node's modules, and packages, which one file names.
 */
export function foreignImports(path: string, source: string): string[] {
  if (!path.endsWith(".ts") || path.endsWith("_test.ts")) return [];
  return [...source.matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gm)]
    .map(([, target = ""]) => target)
    .filter((target) => !isOpenToClient(path, target))
    .map((target) => `${path} (client) imports ${target}`);
}

const COMMAND = "client/command/";

function isOpenToClient(path: string, target: string): boolean {
  if (FRAMEWORKS.has(target)) return path === `client/${target}.ts`;
  const isCommand = path.startsWith(COMMAND);
  if (target.startsWith(".")) {
    return posix.join(posix.dirname(path), target).startsWith("client/") &&
      (isCommand || !target.includes("command/"));
  }
  return isCommand && (target.startsWith("node:") || path === `${COMMAND}deps.ts`);
}

function isOpenToStack(target: string): boolean {
  return target.startsWith(STACK_FOLDER) || isIn(FOUNDATION, target) ||
    STACK_MAY_IMPORT.has(target);
}

/** Finds effects in the source of a core module. */
export function effectsInCore(path: string, source: string): string[] {
  if (!isIn(CORE, path)) return [];
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  return EFFECTS.flatMap((effect) => code.match(effect)?.[0] ?? [])
    .map((effect) => `${path} is core and uses ${effect}`);
}

function isIn(places: readonly RegExp[], path: string): boolean {
  return places.some((place) => place.test(path));
}

/**
 * The number of a module's wing, the outermost being 0; -1 for entries, the innermost for the
 * client, null outside the wings.
 */
function wingOf(path: string): number | null {
  if (ENTRIES.test(path)) return -1;
  if (path.startsWith(CLIENT_FOLDER)) return WINGS.length;
  const index = WINGS.findIndex((wing) => wing === SHARED_WING.exec(path)?.[1]);
  return index < 0 ? null : index;
}

function nameOf(wing: number): string {
  return WINGS[wing] ?? (wing < 0 ? "entries" : "client");
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
