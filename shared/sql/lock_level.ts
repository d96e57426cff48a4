import type { SqlStatement } from "./verdict.ts";

/** What a lock keeps others from while the statement's transaction runs. */
interface LockLevel {
  /** PostgreSQL's name; null: nothing that exists is locked. */
  readonly name: string | null;
  readonly effect: string;
}

const ALL_WAIT: LockLevel = {
  name: "ACCESS EXCLUSIVE",
  effect: "all others wait, those that only read as well",
};
const OTHERS_GO_ON: LockLevel = {
  name: "SHARE UPDATE EXCLUSIVE",
  effect: "reads and writes go on, other definitions wait",
};
const NOTHING: LockLevel = {
  name: null,
  effect: "it locks nothing that exists, but for tables that a new foreign key refers to",
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
  IndexStmt: { name: "SHARE", effect: "reads go on, writes wait until the index is built" },
  SelectStmt: NOTHING,
};

/** What others wait for while a definition or a write runs; null: a statement that only reads. */
export function lockWarning(
  { kind }: Pick<SqlStatement, "kind">,
  statementClass: "read" | "write" | "ddl",
): string | null {
  if (statementClass === "read") return null;
  if (statementClass === "write") {
    return "Lock ROW EXCLUSIVE: reads go on, and the changed rows stay locked until the write has " +
      "committed.";
  }
  // What is not listed takes the strongest lock, as most definitions do.
  const { name, effect } = Object.hasOwn(LOCKS, kind) ? LOCKS[kind] ?? ALL_WAIT : ALL_WAIT;
  return `A definition cannot be planned. ${name === null ? "Locks" : `Lock ${name}`}: ${effect}.`;
}
