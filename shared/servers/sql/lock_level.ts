import type { SqlStatement } from "./verdict.ts";

/** A lock and its effect on other transactions. */
interface LockLevel {
  /** PostgreSQL's name; null if no existing object is locked. */
  readonly name: string | null;
  readonly effect: string;
}

const ALL_WAIT: LockLevel = {
  name: "ACCESS EXCLUSIVE",
  effect: "all other transactions wait, including reads",
};
const OTHERS_GO_ON: LockLevel = {
  name: "SHARE UPDATE EXCLUSIVE",
  effect: "reads and writes continue, other definitions wait",
};
const NOTHING: LockLevel = {
  name: null,
  effect: "it locks no existing object",
};

/** The strongest lock that a definition takes, by the root of its syntax tree. */
const LOCKS: Readonly<Record<string, LockLevel>> = {
  AlterEnumStmt: NOTHING,
  CommentStmt: OTHERS_GO_ON,
  CompositeTypeStmt: NOTHING,
  CreateDomainStmt: NOTHING,
  CreateEnumStmt: NOTHING,
  CreateSchemaStmt: NOTHING,
  CreateSeqStmt: NOTHING,
  CreateStatsStmt: OTHERS_GO_ON,
  CreateStmt: NOTHING,
  CreateTableAsStmt: NOTHING,
  IndexStmt: { name: "SHARE", effect: "reads continue, writes wait until the index is built" },
  SelectStmt: NOTHING,
};

/** The waits caused by a definition or a write; null for a read. */
export function lockWarning(
  { kind }: Pick<SqlStatement, "kind">,
  statementClass: "read" | "write" | "ddl",
): string | null {
  if (statementClass === "read") return null;
  if (statementClass === "write") {
    return "Lock ROW EXCLUSIVE: reads continue, and the changed rows stay locked until the write has " +
      "committed.";
  }
  // Unlisted statements take the strongest lock, as most definitions do.
  const { name, effect } = Object.hasOwn(LOCKS, kind) ? LOCKS[kind] ?? ALL_WAIT : ALL_WAIT;
  return `A definition cannot be planned. ${name === null ? "Locks" : `Lock ${name}`}: ${effect}.`;
}
