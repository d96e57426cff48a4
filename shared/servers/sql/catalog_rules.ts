import { CATALOG_COLUMNS, type CatalogColumns } from "./catalog_columns.ts";
import { forbidden, type NodeFinding } from "./check_context.ts";
import { catalogKey } from "./name_rules.ts";
import {
  isNode,
  listOf,
  ownValue,
  stringNode,
  textOf,
  type TreeNode,
  type TreeValue,
  type VisitedNode,
  wrappedNode,
} from "./syntax_tree.ts";

/** A catalog with hidden columns that a statement reads. */
interface ReadCatalog {
  readonly key: string;
  readonly columns: CatalogColumns;
}

/** The catalogs of a statement, and the names that stand for their rows. */
interface CatalogScope {
  readonly catalogs: readonly ReadCatalog[];
  /** By the name and the alias of each catalog. */
  readonly byName: ReadonlyMap<string, readonly ReadCatalog[]>;
  /** Aliases of joins, whose rows may contain those of every catalog. */
  readonly joins: ReadonlySet<string>;
}

/**
 * Refuses every way to a hidden column of a catalog. Which relation a name without a qualifier
 * belongs to is not resolved: it must not be hidden in any catalog of the statement.
 */
export function catalogFindings(nodes: readonly VisitedNode[]): readonly NodeFinding[] {
  const scope = scopeOf(nodes);
  if (scope.catalogs.length === 0) return [];
  return nodes.flatMap((visited) => findingOf(visited, scope) ?? []);
}

function scopeOf(nodes: readonly VisitedNode[]): CatalogScope {
  const catalogs: ReadCatalog[] = [];
  const byName = new Map<string, ReadCatalog[]>();
  const joins = new Set<string>();
  for (const { type, node } of nodes) {
    const alias = isNode(node.alias) ? textOf(node.alias.aliasname) : null;
    if (type === "JoinExpr" && alias !== null) joins.add(alias);
    const catalog = type === "RangeVar" ? hiddenPartOf(node) : null;
    if (catalog === null) continue;
    catalogs.push(catalog);
    for (const name of [textOf(node.relname), alias]) {
      if (name !== null) byName.set(name, [...byName.get(name) ?? [], catalog]);
    }
  }
  return { catalogs, byName, joins };
}

/** The catalog that a relation is, if it has hidden columns. */
function hiddenPartOf(range: TreeNode): ReadCatalog | null {
  const key = catalogKey(textOf(range.schemaname), textOf(range.relname) ?? "");
  const columns = key === null ? undefined : ownValue(CATALOG_COLUMNS, key);
  return key === null || columns === undefined || columns.hidden.size === 0
    ? null
    : { key, columns };
}

function findingOf({ type, node }: VisitedNode, scope: CatalogScope): NodeFinding | null {
  switch (type) {
    case "ColumnRef":
      return referenceFinding(node, scope);
    case "JoinExpr":
      return joinFinding(node, scope);
    case "RangeVar":
      return hiddenPartOf(node) === null ? null : renamedFinding(node);
    case "SelectStmt":
      return isStarOver(node.targetList, listOf(node.fromClause))
        ? hiddenFinding("*", scope.catalogs)
        : null;
    default:
      // RETURNING * of a write also returns the columns that the write reads.
      return listOf(node.returningList).some(isBareStar)
        ? hiddenFinding("*", scope.catalogs)
        : null;
  }
}

/** `column`, `row`, `relation.column`, `relation.*` or `schema.relation.column`. */
function referenceFinding(
  { fields, location }: TreeNode,
  { catalogs, byName, joins }: CatalogScope,
): NodeFinding | null {
  const parts = listOf(fields);
  const name = stringNode(parts.at(-1)) ?? "*";
  const qualifier = parts.length < 2 ? null : stringNode(parts.at(-2));
  if (qualifier === null) {
    // A star without a qualifier is checked with its query, which it depends on.
    if (name === "*") return null;
    if (byName.has(name) || joins.has(name)) return rowFinding(name, catalogs, location);
    return hiddenFinding(name, catalogs.filter(hides(name)), location);
  }
  if (joins.has(qualifier)) {
    const isListed = catalogs.some(({ columns }) => columns.shown.has(name));
    return isListed
      ? hiddenFinding(name, catalogs.filter(hides(name)), location)
      : rowFinding(qualifier, catalogs, location);
  }
  // Everything else, such as relation.function, has to be on the list.
  const unlisted = (byName.get(qualifier) ?? []).filter(({ columns }) => !columns.shown.has(name));
  return hiddenFinding(name, unlisted, location);
}

function joinFinding(
  { isNatural, usingClause, alias }: TreeNode,
  { catalogs }: CatalogScope,
): NodeFinding | null {
  if (isNatural === true) {
    return forbidden("A natural join with a catalog compares its hidden columns: use ON.");
  }
  const used = listOf(usingClause).map((name) => stringNode(name) ?? "");
  const hidden = used.flatMap((name) => hiddenFinding(name, catalogs.filter(hides(name))) ?? []);
  return hidden[0] ?? (isNode(alias) ? renamedFinding({ alias }) : null);
}

/** Other names for the columns would stand for hidden ones, too. */
function renamedFinding({ alias, location }: TreeNode): NodeFinding | null {
  return isNode(alias) && listOf(alias.colnames).length > 0
    ? forbidden("An alias must not rename the columns of a catalog.", location)
    : null;
}

function rowFinding(
  name: string,
  catalogs: readonly ReadCatalog[],
  location: TreeValue | undefined,
): NodeFinding {
  return forbidden(
    `"${name}" stands for whole rows of a catalog, with hidden columns. ${readable(catalogs)}`,
    location,
  );
}

function hiddenFinding(
  name: string,
  catalogs: readonly ReadCatalog[],
  location?: TreeValue,
): NodeFinding | null {
  const [first] = catalogs;
  if (first === undefined) return null;
  const reason = name === "*"
    ? `"*" stands for all columns of ${first.key}, also hidden ones. ${readable(catalogs)}`
    : `Statements may not read "${name}" of ${first.key}. ${readable([first])}`;
  return forbidden(reason, location);
}

function readable(catalogs: readonly ReadCatalog[]): string {
  const lists = new Map(catalogs.map(({ key, columns }) => [key, [...columns.shown].join(", ")]));
  return [...lists].map(([key, names]) => `Readable columns of ${key}: ${names}.`).join(" ");
}

function hides(name: string): (catalog: ReadCatalog) => boolean {
  return ({ columns }) => columns.hidden.has(name);
}

/** Whether a query selects `*` from a catalog itself, rather than from a query. */
function isStarOver(targets: TreeValue | undefined, from: readonly TreeValue[]): boolean {
  return listOf(targets).some(isBareStar) && from.some(containsCatalog);
}

function isBareStar(target: TreeValue): boolean {
  const value = wrappedNode(wrappedNode(target)?.node.val);
  const fields = value?.type === "ColumnRef" ? listOf(value.node.fields) : [];
  return fields.length === 1 && wrappedNode(fields[0])?.type === "A_Star";
}

function containsCatalog(item: TreeValue): boolean {
  const waiting: (TreeValue | undefined)[] = [item];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const wrapped = wrappedNode(next);
    if (wrapped?.type === "RangeVar" && hiddenPartOf(wrapped.node) !== null) return true;
    if (wrapped?.type === "JoinExpr") waiting.push(wrapped.node.larg, wrapped.node.rarg);
    if (wrapped?.type === "RangeTableSample") waiting.push(wrapped.node.relation);
  }
  return false;
}
