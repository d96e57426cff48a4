import { forbidden, type NodeFinding } from "./check_context.ts";
import {
  isNode,
  listOf,
  stringNode,
  textOf,
  type TreeNode,
  type VisitedNode,
  wrappedNode,
} from "./syntax_tree.ts";

/**
 * Maximum number of nodes of a statement after the planner has put the expressions of subqueries in
 * the place of their columns. Planning more takes time and memory that nothing limits or interrupts.
 */
const MAX_EXPANDED_NODES = 20_000;

/** What names things, rather than being evaluated; a column counts as what it stands for. */
const NAMING_NODES: ReadonlySet<string | null> = new Set([
  ...["A_Star", "Alias", "ColumnRef", "Integer", "List", "ResTarget", "String", "TypeName"],
]);

/** Part of a statement: a column, a query, or the statement. */
interface Part {
  /** Outside of its parts. */
  nodes: number;
  readonly references: Reference[];
  /** Names in `FROM` that may be those of queries in `WITH`. */
  readonly queryNames: string[];
  readonly parts: Part[];
}

interface Column extends Part {
  /** Null if any name may mean it. */
  readonly name: string | null;
}

/** A query in `FROM` or `WITH`. */
interface Source extends Part {
  /** What stands for a whole row of it. */
  readonly names: ReadonlySet<string>;
  readonly columns: Column[];
  /** Its columns have other names than in its query. */
  readonly isRenamed: boolean;
  /** Whether the planner puts its expressions in the place of its columns. */
  readonly isInlined: boolean;
  readonly isLateral: boolean;
}

interface OpenPart {
  readonly depth: number;
  readonly type: string | null;
  readonly part: Part;
}

/** A reference to a column, by its last name; null for a star. */
interface Reference {
  readonly name: string | null;
  readonly scope: Scope;
}

/** A `SELECT` with what it selects from. */
interface Scope {
  readonly depth: number;
  readonly outer: Scope | null;
  readonly sources: Source[];
  readonly queryNames: string[];
  /**
   * The first source around it that it may refer to: a lateral query in `FROM` sees those before it,
   * which are visited later, and other queries in `FROM` and `WITH` see none.
   */
  readonly firstOuterSource: number;
  /** The query in `WITH` around it, which a recursive query does not copy into itself. */
  readonly query: Part | null;
  /** The sizes of columns by name. */
  readonly sizes: Map<string | null, number>;
}

/** Refuses a statement that becomes much longer while it is planned, such as nested `x + x`. */
export function expansionFindings(nodes: readonly VisitedNode[]): readonly NodeFinding[] {
  if (!nodes.some(({ type }) => type === "RangeSubselect" || type === "CommonTableExpr")) return [];
  return new Expansion(nodes).size() <= MAX_EXPANDED_NODES ? [] : [forbidden(
    "The subqueries of the statement repeat each other's expressions: the planner would copy them " +
      `to more than ${MAX_EXPANDED_NODES} places. Use WITH name AS MATERIALIZED (…).`,
  )];
}

/** Reads a statement's sources and computes their sizes, each once. */
class Expansion {
  readonly #statement: Part = newPart();
  readonly #queries = new Map<string, Source[]>();
  readonly #namings: Namings;
  readonly #sizes = new Map<Part, number>();

  /** @param nodes Parents before their parts, and later siblings before earlier ones. */
  constructor(nodes: readonly VisitedNode[]) {
    this.#namings = namingsOf(nodes);
    this.#read(nodes);
  }

  /** Infinity if the queries refer to each other. */
  size(): number {
    return this.#sizeOf(this.#statement);
  }

  #read(nodes: readonly VisitedNode[]): void {
    let scope: Scope = newScope(0, null, []);
    const open: OpenPart[] = [{ depth: -1, type: null, part: this.#statement }];
    for (const visited of nodes) {
      const { type, node, depth } = visited;
      while (scope.outer !== null && depth <= scope.depth) scope = scope.outer;
      while ((open.at(-1)?.depth ?? -1) >= depth) open.pop();
      const inner = open.at(-1)?.part ?? this.#statement;
      const part = this.#partOf(visited, scope, open);
      if (part !== null) {
        inner.parts.push(part);
        open.push({ depth, type, part });
      }
      const current = part ?? inner;
      if (!NAMING_NODES.has(type)) current.nodes++;
      if (type === "ColumnRef") {
        current.references.push({ name: stringNode(listOf(node.fields).at(-1)), scope });
      }
      if (type === "RangeVar" && textOf(node.schemaname) === null) {
        const name = textOf(node.relname) ?? "";
        scope.queryNames.push(name);
        current.queryNames.push(name);
      }
      if (type === "SelectStmt") scope = newScope(depth, scope, open);
    }
  }

  #partOf(
    { type, node, field }: VisitedNode,
    scope: Scope,
    open: readonly OpenPart[],
  ): Part | null {
    const around = open.findLast(({ part }) => "columns" in part)?.part as Source | undefined;
    switch (type) {
      case "RangeSubselect": {
        // The planner copies the values of one row only.
        const values = listOf(wrappedNode(node.subquery)?.node.valuesLists);
        const source = this.#newSource(node.alias, [], values.length <= 1, node.lateral === true);
        scope.sources.push(source);
        return source;
      }
      case "CommonTableExpr": {
        const name = textOf(node.ctename) ?? "";
        const isNamedOnce = (this.#namings.counts.get(name) ?? 0) <= 1;
        const isInlined = node.ctematerialized === "CTEMaterializeNever" ||
          node.ctematerialized !== "CTEMaterializeAlways" && isNamedOnce;
        const alias = { aliasname: name, colnames: node.aliascolnames ?? [] };
        const query = this.#newSource(alias, this.#namings.aliases.get(name) ?? [], isInlined);
        this.#queries.set(name, [...this.#queries.get(name) ?? [], query]);
        return query;
      }
      case "SubLink":
        // Its columns are nobody's.
        return this.#newSource(undefined, [], false);
      case "ResTarget": {
        if (field !== "targetList") return null;
        const column: Column = { ...newPart(), name: nameOfTarget(node) };
        around?.columns.push(column);
        return column;
      }
      case "List": {
        if (field !== "valuesLists") return null;
        const column: Column = { ...newPart(), name: null };
        around?.columns.push(column);
        return column;
      }
      default:
        return null;
    }
  }

  #newSource(
    alias: TreeNode[string] | undefined,
    names: readonly string[],
    isInlined: boolean,
    isLateral = false,
  ): Source {
    const given = isNode(alias) ? alias : {};
    return {
      ...newPart(),
      names: new Set([textOf(given.aliasname) ?? "", ...names, ...this.#namings.joins]),
      columns: [],
      isRenamed: this.#namings.isJoinRenamed || listOf(given.colnames).length > 0,
      isInlined,
      isLateral,
    };
  }

  #sizeOf(part: Part): number {
    const known = this.#sizes.get(part);
    if (known !== undefined) return known;
    this.#sizes.set(part, Infinity);
    const size = part.nodes +
      sum(part.references.map((reference) => Math.max(1, this.#sizeOfReference(reference)))) +
      sum(part.queryNames.map((name) => this.#sizeOfQuery(name, part))) +
      sum(part.parts.map((inner) => this.#sizeOf(inner)));
    this.#sizes.set(part, size);
    return size;
  }

  #sizeOfQuery(name: string, within: Part): number {
    const copied = (this.#queries.get(name) ?? [])
      .filter((query) => query.isInlined && query !== within);
    return Math.max(0, ...copied.map((query) => this.#sizeOf(query)));
  }

  /** The largest column that a name may mean. */
  #sizeOfReference({ name, scope }: Reference): number {
    const known = scope.sizes.get(name);
    if (known !== undefined) return known;
    let size = 0;
    let first = 0;
    for (let inner: Scope | null = scope; inner !== null; inner = inner.outer) {
      const queries = first === Infinity
        ? []
        : inner.queryNames.flatMap((query) => this.#queries.get(query) ?? []);
      const sources = [...inner.sources.slice(first), ...queries]
        .filter((source) => source.isInlined && source !== inner?.query);
      size = Math.max(size, ...sources.map((source) => this.#sizeInSource(source, name)));
      first = inner.firstOuterSource;
    }
    scope.sizes.set(name, size);
    return size;
  }

  #sizeInSource({ names, columns, isRenamed }: Source, name: string | null): number {
    const sizes = (meant: readonly Column[]) => meant.map((column) => this.#sizeOf(column));
    if (name === null || names.has(name)) return sum(sizes(columns));
    const isAny = isRenamed || this.#namings.isJoinRenamed;
    return Math.max(
      0,
      ...sizes(isAny ? columns : columns.filter((column) => (column.name ?? name) === name)),
    );
  }
}

/** How a statement names queries and joins. */
interface Namings {
  /** How often each name stands in `FROM`. */
  readonly counts: ReadonlyMap<string, number>;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly joins: readonly string[];
  readonly isJoinRenamed: boolean;
}

function namingsOf(nodes: readonly VisitedNode[]): Namings {
  const counts = new Map<string, number>();
  const aliases = new Map<string, string[]>();
  const joins: string[] = [];
  let isJoinRenamed = false;
  for (const { type, node } of nodes) {
    const alias = isNode(node.alias) ? node.alias : {};
    const aliasName = textOf(alias.aliasname);
    if (type === "RangeVar") {
      const name = textOf(node.relname) ?? "";
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (aliasName !== null) aliases.set(name, [...aliases.get(name) ?? [], aliasName]);
    }
    if (type === "JoinExpr" && aliasName !== null) joins.push(aliasName);
    // New names of columns of a join, or of a query in WITH.
    if (type === "JoinExpr" || type === "RangeVar") {
      isJoinRenamed ||= listOf(alias.colnames).length > 0;
    }
  }
  return { counts, aliases, joins, isJoinRenamed };
}

/** The name of a column that is sure: PostgreSQL derives others from the expression. */
function nameOfTarget({ name, val }: TreeNode): string | null {
  const given = textOf(name);
  if (given !== null) return given;
  const wrapped = wrappedNode(val);
  return wrapped?.type === "ColumnRef" ? stringNode(listOf(wrapped.node.fields).at(-1)) : null;
}

function newPart(): Part {
  return { nodes: 0, references: [], queryNames: [], parts: [] };
}

/** @param open The parts around it, the innermost last. */
function newScope(depth: number, outer: Scope | null, open: readonly OpenPart[]): Scope {
  const { type = null, part = null } = open.at(-1) ?? {};
  const isInFrom = type === "RangeSubselect" || type === "CommonTableExpr";
  const isLateral = isInFrom && (part as Source).isLateral;
  return {
    depth,
    outer,
    sources: [],
    queryNames: [],
    firstOuterSource: !isInFrom ? 0 : isLateral ? outer?.sources.length ?? 0 : Infinity,
    query: type === "CommonTableExpr" ? part : outer?.query ?? null,
    sizes: new Map(),
  };
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all + size, 0);
}
