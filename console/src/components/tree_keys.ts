/** The properties of a tree row that the keys depend on. */
export interface TreeRow {
  /** 1 for the roots. */
  readonly level: number;
  readonly childCount: number;
  readonly isExpanded: boolean;
}

/** A tree shown as a flat list of rows, one of which is selected. */
export interface KeyboardTree<Row extends TreeRow> {
  readonly rows: readonly Row[];
  /** -1 while no row is selected. */
  readonly selected: number;
  /** The number of rows that Page Up and Page Down move. */
  readonly pageRows: number;
  /** Receives the index of an existing row. */
  select(index: number): void;
  toggle(row: Row): void;
  /** Called for Enter and Space. */
  open(row: Row): void;
}

/**
 * Moves through a tree according to the ARIA tree pattern. Other keys, and keys with a
 * modifier, are left to the page.
 */
export function pressTreeKey<Row extends TreeRow>(
  event: KeyboardEvent,
  tree: KeyboardTree<Row>,
): void {
  if (event.altKey || event.ctrlKey || event.metaKey || tree.rows.length === 0) return;
  const move = moveFor(event.key, tree);
  if (move === undefined) return;
  event.preventDefault();
  move();
}

function moveFor<Row extends TreeRow>(
  key: string,
  tree: KeyboardTree<Row>,
): (() => void) | undefined {
  const { rows, pageRows } = tree;
  const last = rows.length - 1;
  const at = Math.min(tree.selected, last);
  const row = rows[Math.max(at, 0)] as Row;
  const isParent = row.childCount > 0;
  const go = (index: number) => tree.select(Math.min(Math.max(index, 0), last));
  const moves: Record<string, () => void> = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    PageDown: () => go(at + pageRows),
    PageUp: () => go(at - pageRows),
    Home: () => go(0),
    End: () => go(last),
    ArrowRight: () => {
      if (isParent && row.isExpanded) go(at + 1);
      else if (isParent) tree.toggle(row);
    },
    ArrowLeft: () => {
      if (isParent && row.isExpanded) tree.toggle(row);
      else go(parentIndex(rows, at));
    },
    Enter: () => tree.open(row),
    " ": () => tree.open(row),
  };
  return moves[key];
}

/** The parent of a row; the row itself for a root. */
function parentIndex(rows: readonly TreeRow[], at: number): number {
  const level = rows[at]?.level ?? 1;
  for (let above = at - 1; above >= 0; above--) {
    if ((rows[above]?.level ?? 0) < level) return above;
  }
  return at;
}
