/** Nodes without their own rule: they contain values and other nodes, each of which is visited. */
export const PLAIN_NODES: ReadonlySet<string> = new Set([
  // Expressions
  "A_ArrayExpr",
  "A_Const",
  "A_Indices",
  "A_Indirection",
  "A_Star",
  "Alias",
  "BitString",
  "BoolExpr",
  "Boolean",
  "BooleanTest",
  "CaseExpr",
  "CaseWhen",
  "CoalesceExpr",
  "Float",
  "GroupingFunc",
  "GroupingSet",
  "Integer",
  "List",
  "MinMaxExpr",
  "MultiAssignRef",
  "MergeSupportFunc",
  "NamedArgExpr",
  "NullTest",
  "ParamRef",
  "RowExpr",
  "SQLValueFunction",
  "SetToDefault",
  "String",
  "TypeCast",
  "WindowDef",
  // Queries
  "CTECycleClause",
  "CTESearchClause",
  "CommonTableExpr",
  "JoinExpr",
  "RangeFunction",
  "RangeSubselect",
  "RangeTableFuncCol",
  "ResTarget",
  "SelectStmt",
  "WithClause",
  // SQL/JSON
  "JsonAggConstructor",
  "JsonArgument",
  "JsonArrayAgg",
  "JsonArrayConstructor",
  "JsonArrayQueryConstructor",
  "JsonBehavior",
  "JsonFormat",
  "JsonFuncExpr",
  "JsonIsPredicate",
  "JsonKeyValue",
  "JsonObjectAgg",
  "JsonObjectConstructor",
  "JsonOutput",
  "JsonParseExpr",
  "JsonReturning",
  "JsonScalarExpr",
  "JsonSerializeExpr",
  "JsonTable",
  "JsonTableColumn",
  "JsonTablePathSpec",
  "JsonValueExpr",
  // Parts of writes
  "IndexElem",
  "InferClause",
  "MergeWhenClause",
  "OnConflictClause",
  // Parts of definitions
  "ColumnDef",
  "DefElem",
  "PartitionBoundSpec",
  "PartitionCmd",
  "PartitionElem",
  "PartitionSpec",
  "StatsElem",
  "TableLikeClause",
]);

/** Statements that write rows. */
export const WRITE_NODES: ReadonlySet<string> = new Set([
  "DeleteStmt",
  "InsertStmt",
  "MergeStmt",
  "UpdateStmt",
]);

/**
 * Permitted actions of `ALTER TABLE`: nothing about row security, owners, triggers, rules or
 * replication.
 */
export const ALLOWED_ALTERATIONS: ReadonlySet<string> = new Set([
  "AT_AddColumn",
  "AT_AddConstraint",
  "AT_AddIdentity",
  "AT_AddInherit",
  "AT_AlterColumnType",
  "AT_AlterConstraint",
  "AT_AttachPartition",
  "AT_ColumnDefault",
  "AT_DetachPartition",
  "AT_DetachPartitionFinalize",
  "AT_DropColumn",
  "AT_DropConstraint",
  "AT_DropExpression",
  "AT_DropIdentity",
  "AT_DropInherit",
  "AT_DropNotNull",
  "AT_ResetOptions",
  "AT_ResetRelOptions",
  "AT_SetCompression",
  "AT_SetExpression",
  "AT_SetIdentity",
  "AT_SetLogged",
  "AT_SetNotNull",
  "AT_SetOptions",
  "AT_SetRelOptions",
  "AT_SetStatistics",
  "AT_SetStorage",
  "AT_SetUnLogged",
  "AT_ValidateConstraint",
]);

/**
 * Object kinds that a definition may create, change, drop, rename or comment on. Functions,
 * triggers, policies, roles and extensions belong in migrations.
 */
export const ALLOWED_OBJECTS: ReadonlySet<string> = new Set([
  "OBJECT_ATTRIBUTE",
  "OBJECT_COLUMN",
  "OBJECT_DOMAIN",
  "OBJECT_DOMCONSTRAINT",
  "OBJECT_INDEX",
  "OBJECT_MATVIEW",
  "OBJECT_SCHEMA",
  "OBJECT_SEQUENCE",
  "OBJECT_STATISTIC_EXT",
  "OBJECT_TABCONSTRAINT",
  "OBJECT_TABLE",
  "OBJECT_TYPE",
  "OBJECT_VIEW",
]);

/** Options of `EXPLAIN`; none of them shows more than the plan. */
export const EXPLAIN_OPTIONS: ReadonlySet<string> = new Set([
  "analyze",
  "buffers",
  "costs",
  "format",
  "generic_plan",
  "memory",
  "serialize",
  "settings",
  "summary",
  "timing",
  "verbose",
  "wal",
]);

/** Built-in sampling methods of PostgreSQL; others are functions of extensions. */
export const SAMPLING_METHODS: ReadonlySet<string> = new Set(["bernoulli", "system"]);
