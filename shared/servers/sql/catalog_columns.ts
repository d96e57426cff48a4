/** Columns of a system catalog. */
export interface CatalogColumns {
  /** The columns that a statement may read. */
  readonly shown: ReadonlySet<string>;
  /** All others of the supported versions of PostgreSQL. */
  readonly hidden: ReadonlySet<string>;
}

/** Columns of every table. */
const SYSTEM_COLUMNS = "cmax cmin ctid tableoid xmax xmin";

/**
 * The catalogs that statements may read, with the columns that describe the schema: names, types,
 * keys and properties. Hidden are the columns in which a project may have written a secret (bodies,
 * arguments, defaults, definitions, policies, options) and those that describe rows (sizes,
 * statistics, last values). Catalogs of roles, settings, sessions, comments and foreign servers are
 * omitted.
 */
export const CATALOG_COLUMNS: Readonly<Record<string, CatalogColumns>> = {
  pg_aggregate: columns(
    "aggfnoid aggkind aggnumdirectargs aggtransfn aggfinalfn aggcombinefn aggserialfn " +
      "aggdeserialfn aggmtransfn aggminvtransfn aggmfinalfn aggfinalextra aggmfinalextra " +
      "aggfinalmodify aggmfinalmodify aggsortop aggtranstype aggtransspace aggmtranstype " +
      "aggmtransspace",
    "agginitval aggminitval",
  ),
  pg_am: columns(
    "oid amname amhandler amtype",
  ),
  pg_attrdef: columns(
    "oid adrelid adnum",
    "adbin",
  ),
  pg_attribute: columns(
    "attrelid attname atttypid attlen attnum attndims atttypmod attbyval attalign attstorage " +
      "attcompression attnotnull atthasdef attidentity attgenerated attisdropped attislocal " +
      "attinhcount attcollation",
    "attstattarget attcacheoff atthasmissing attacl attoptions attfdwoptions attmissingval",
  ),
  pg_available_extensions: columns(
    "name default_version installed_version comment",
  ),
  pg_cast: columns(
    "oid castsource casttarget castfunc castcontext castmethod",
  ),
  pg_class: columns(
    "oid relname relnamespace reltype reloftype relowner relam relhasindex relisshared " +
      "relpersistence relkind relnatts relchecks relhasrules relhastriggers relhassubclass " +
      "relrowsecurity relforcerowsecurity relispopulated relreplident relispartition",
    "relfilenode reltablespace relpages reltuples relallvisible relallfrozen reltoastrelid " +
      "relrewrite relfrozenxid relminmxid relacl reloptions relpartbound",
  ),
  pg_collation: columns(
    "oid collname collnamespace collowner collprovider collisdeterministic collencoding " +
      "collcollate collctype colliculocale collversion colllocale",
    "collicurules",
  ),
  pg_constraint: columns(
    "oid conname connamespace contype condeferrable condeferred convalidated conrelid contypid " +
      "conindid conparentid confrelid confupdtype confdeltype confmatchtype conislocal " +
      "coninhcount connoinherit conkey confkey conpfeqop conppeqop conffeqop confdelsetcols " +
      "conenforced conperiod",
    "conexclop conbin",
  ),
  pg_depend: columns(
    "classid objid objsubid refclassid refobjid refobjsubid deptype",
  ),
  pg_enum: columns(
    "oid enumtypid enumsortorder enumlabel",
  ),
  pg_extension: columns(
    "oid extname extowner extnamespace extrelocatable extversion",
    "extconfig extcondition",
  ),
  pg_index: columns(
    "indexrelid indrelid indnatts indnkeyatts indisunique indnullsnotdistinct indisprimary " +
      "indisexclusion indimmediate indisclustered indisvalid indisready indislive indisreplident " +
      "indkey indcollation indclass indoption",
    "indcheckxmin indexprs indpred",
  ),
  pg_indexes: columns(
    "schemaname tablename indexname",
    "tablespace indexdef",
  ),
  pg_inherits: columns(
    "inhrelid inhparent inhseqno inhdetachpending",
  ),
  pg_language: columns(
    "oid lanname lanowner lanispl lanpltrusted lanplcallfoid laninline lanvalidator",
    "lanacl",
  ),
  pg_matviews: columns(
    "schemaname matviewname matviewowner hasindexes ispopulated",
    "tablespace definition",
  ),
  pg_namespace: columns(
    "oid nspname nspowner",
    "nspacl",
  ),
  pg_opclass: columns(
    "oid opcmethod opcname opcnamespace opcowner opcfamily opcintype opcdefault opckeytype",
  ),
  pg_operator: columns(
    "oid oprname oprnamespace oprowner oprkind oprcanmerge oprcanhash oprleft oprright " +
      "oprresult oprcom oprnegate oprcode oprrest oprjoin",
  ),
  pg_opfamily: columns(
    "oid opfmethod opfname opfnamespace opfowner",
  ),
  pg_partitioned_table: columns(
    "partrelid partstrat partnatts partdefid partattrs partclass partcollation",
    "partexprs",
  ),
  pg_policies: columns(
    "schemaname tablename policyname permissive roles cmd",
    "qual with_check",
  ),
  pg_policy: columns(
    "oid polname polrelid polcmd polpermissive polroles",
    "polqual polwithcheck",
  ),
  pg_proc: columns(
    "oid proname pronamespace proowner prolang provariadic prokind prosecdef proleakproof " +
      "proisstrict proretset provolatile proparallel pronargs pronargdefaults prorettype " +
      "proargtypes proallargtypes proargmodes proargnames",
    "procost prorows prosupport proargdefaults protrftypes prosrc probin prosqlbody proconfig " +
      "proacl",
  ),
  pg_range: columns(
    "rngtypid rngsubtype rngmultitypid rngcollation rngsubopc rngcanonical rngsubdiff",
  ),
  pg_rewrite: columns(
    "oid rulename ev_class ev_type ev_enabled is_instead",
    "ev_qual ev_action",
  ),
  pg_sequence: columns(
    "seqrelid seqtypid seqstart seqincrement seqmax seqmin seqcache seqcycle",
  ),
  pg_sequences: columns(
    "schemaname sequencename sequenceowner data_type start_value min_value max_value " +
      "increment_by cycle cache_size",
    "last_value",
  ),
  pg_statistic_ext: columns(
    "oid stxrelid stxname stxnamespace stxowner stxkeys stxkind",
    "stxstattarget stxexprs",
  ),
  pg_tables: columns(
    "schemaname tablename tableowner hasindexes hasrules hastriggers rowsecurity",
    "tablespace",
  ),
  pg_timezone_abbrevs: columns(
    "abbrev utc_offset is_dst",
  ),
  pg_timezone_names: columns(
    "name abbrev utc_offset is_dst",
  ),
  pg_trigger: columns(
    "oid tgrelid tgparentid tgname tgfoid tgtype tgenabled tgisinternal tgconstrrelid " +
      "tgconstrindid tgconstraint tgdeferrable tginitdeferred tgattr tgoldtable tgnewtable",
    "tgnargs tgargs tgqual",
  ),
  pg_type: columns(
    "oid typname typnamespace typowner typlen typbyval typtype typcategory typispreferred " +
      "typisdefined typdelim typrelid typsubscript typelem typarray typinput typoutput typreceive " +
      "typsend typmodin typmodout typanalyze typalign typstorage typnotnull typbasetype typtypmod " +
      "typndims typcollation",
    "typdefaultbin typdefault typacl",
  ),
  pg_views: columns(
    "schemaname viewname viewowner",
    "definition",
  ),
  "information_schema.applicable_roles": columns(
    "grantee role_name is_grantable",
  ),
  "information_schema.attributes": columns(
    "udt_catalog udt_schema udt_name attribute_name ordinal_position is_nullable data_type " +
      "character_maximum_length character_octet_length character_set_catalog character_set_schema " +
      "character_set_name collation_catalog collation_schema collation_name numeric_precision " +
      "numeric_precision_radix numeric_scale datetime_precision interval_type interval_precision " +
      "attribute_udt_catalog attribute_udt_schema attribute_udt_name scope_catalog scope_schema " +
      "scope_name maximum_cardinality dtd_identifier is_derived_reference_attribute",
    "attribute_default",
  ),
  "information_schema.character_sets": columns(
    "character_set_catalog character_set_schema character_set_name character_repertoire " +
      "form_of_use default_collate_catalog default_collate_schema default_collate_name",
  ),
  "information_schema.check_constraints": columns(
    "constraint_catalog constraint_schema constraint_name",
    "check_clause",
  ),
  "information_schema.collations": columns(
    "collation_catalog collation_schema collation_name pad_attribute",
  ),
  "information_schema.column_domain_usage": columns(
    "domain_catalog domain_schema domain_name table_catalog table_schema table_name column_name",
  ),
  "information_schema.column_privileges": columns(
    "grantor grantee table_catalog table_schema table_name column_name privilege_type " +
      "is_grantable",
  ),
  "information_schema.column_udt_usage": columns(
    "udt_catalog udt_schema udt_name table_catalog table_schema table_name column_name",
  ),
  "information_schema.columns": columns(
    "table_catalog table_schema table_name column_name ordinal_position is_nullable data_type " +
      "character_maximum_length character_octet_length numeric_precision numeric_precision_radix " +
      "numeric_scale datetime_precision interval_type interval_precision character_set_catalog " +
      "character_set_schema character_set_name collation_catalog collation_schema collation_name " +
      "domain_catalog domain_schema domain_name udt_catalog udt_schema udt_name scope_catalog " +
      "scope_schema scope_name maximum_cardinality dtd_identifier is_self_referencing is_identity " +
      "identity_generation identity_start identity_increment identity_maximum identity_minimum " +
      "identity_cycle is_generated is_updatable",
    "column_default generation_expression",
  ),
  "information_schema.constraint_column_usage": columns(
    "table_catalog table_schema table_name column_name constraint_catalog constraint_schema " +
      "constraint_name",
  ),
  "information_schema.constraint_table_usage": columns(
    "table_catalog table_schema table_name constraint_catalog constraint_schema constraint_name",
  ),
  "information_schema.domain_constraints": columns(
    "constraint_catalog constraint_schema constraint_name domain_catalog domain_schema " +
      "domain_name is_deferrable initially_deferred",
  ),
  "information_schema.domains": columns(
    "domain_catalog domain_schema domain_name data_type character_maximum_length " +
      "character_octet_length character_set_catalog character_set_schema character_set_name " +
      "collation_catalog collation_schema collation_name numeric_precision " +
      "numeric_precision_radix numeric_scale datetime_precision interval_type interval_precision " +
      "udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name maximum_cardinality " +
      "dtd_identifier",
    "domain_default",
  ),
  "information_schema.element_types": columns(
    "object_catalog object_schema object_name object_type collection_type_identifier data_type " +
      "character_maximum_length character_octet_length character_set_catalog character_set_schema " +
      "character_set_name collation_catalog collation_schema collation_name numeric_precision " +
      "numeric_precision_radix numeric_scale datetime_precision interval_type interval_precision " +
      "udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name maximum_cardinality " +
      "dtd_identifier",
    "domain_default",
  ),
  "information_schema.enabled_roles": columns(
    "role_name",
  ),
  "information_schema.information_schema_catalog_name": columns(
    "catalog_name",
  ),
  "information_schema.key_column_usage": columns(
    "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name " +
      "column_name ordinal_position position_in_unique_constraint",
  ),
  "information_schema.parameters": columns(
    "specific_catalog specific_schema specific_name ordinal_position parameter_mode is_result " +
      "as_locator parameter_name data_type character_maximum_length character_octet_length " +
      "character_set_catalog character_set_schema character_set_name collation_catalog " +
      "collation_schema collation_name numeric_precision numeric_precision_radix numeric_scale " +
      "datetime_precision interval_type interval_precision udt_catalog udt_schema udt_name " +
      "scope_catalog scope_schema scope_name maximum_cardinality dtd_identifier",
    "parameter_default",
  ),
  "information_schema.referential_constraints": columns(
    "constraint_catalog constraint_schema constraint_name unique_constraint_catalog " +
      "unique_constraint_schema unique_constraint_name match_option update_rule delete_rule",
  ),
  "information_schema.role_column_grants": columns(
    "grantor grantee table_catalog table_schema table_name column_name privilege_type " +
      "is_grantable",
  ),
  "information_schema.role_table_grants": columns(
    "grantor grantee table_catalog table_schema table_name privilege_type is_grantable " +
      "with_hierarchy",
  ),
  "information_schema.routine_privileges": columns(
    "grantor grantee specific_catalog specific_schema specific_name routine_catalog " +
      "routine_schema routine_name privilege_type is_grantable",
  ),
  "information_schema.routines": columns(
    "specific_catalog specific_schema specific_name routine_catalog routine_schema routine_name " +
      "routine_type module_catalog module_schema module_name udt_catalog udt_schema udt_name " +
      "data_type character_maximum_length character_octet_length character_set_catalog " +
      "character_set_schema character_set_name collation_catalog collation_schema collation_name " +
      "numeric_precision numeric_precision_radix numeric_scale datetime_precision interval_type " +
      "interval_precision type_udt_catalog type_udt_schema type_udt_name scope_catalog " +
      "scope_schema scope_name maximum_cardinality dtd_identifier routine_body external_language " +
      "parameter_style is_deterministic sql_data_access is_null_call sql_path " +
      "schema_level_routine max_dynamic_result_sets is_user_defined_cast is_implicitly_invocable " +
      "security_type to_sql_specific_catalog to_sql_specific_schema to_sql_specific_name " +
      "as_locator created last_altered new_savepoint_level is_udt_dependent " +
      "result_cast_from_data_type result_cast_as_locator result_cast_char_max_length " +
      "result_cast_char_octet_length result_cast_char_set_catalog result_cast_char_set_schema " +
      "result_cast_char_set_name result_cast_collation_catalog result_cast_collation_schema " +
      "result_cast_collation_name result_cast_numeric_precision " +
      "result_cast_numeric_precision_radix result_cast_numeric_scale " +
      "result_cast_datetime_precision result_cast_interval_type result_cast_interval_precision " +
      "result_cast_type_udt_catalog result_cast_type_udt_schema result_cast_type_udt_name " +
      "result_cast_scope_catalog result_cast_scope_schema result_cast_scope_name " +
      "result_cast_maximum_cardinality result_cast_dtd_identifier",
    "routine_definition external_name",
  ),
  "information_schema.schemata": columns(
    "catalog_name schema_name schema_owner default_character_set_catalog " +
      "default_character_set_schema default_character_set_name sql_path",
  ),
  "information_schema.sequences": columns(
    "sequence_catalog sequence_schema sequence_name data_type numeric_precision " +
      "numeric_precision_radix numeric_scale start_value minimum_value maximum_value increment " +
      "cycle_option",
  ),
  "information_schema.table_constraints": columns(
    "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name " +
      "constraint_type is_deferrable initially_deferred enforced nulls_distinct",
  ),
  "information_schema.table_privileges": columns(
    "grantor grantee table_catalog table_schema table_name privilege_type is_grantable " +
      "with_hierarchy",
  ),
  "information_schema.tables": columns(
    "table_catalog table_schema table_name table_type self_referencing_column_name " +
      "reference_generation user_defined_type_catalog user_defined_type_schema " +
      "user_defined_type_name is_insertable_into is_typed commit_action",
  ),
  "information_schema.triggers": columns(
    "trigger_catalog trigger_schema trigger_name event_manipulation event_object_catalog " +
      "event_object_schema event_object_table action_order action_orientation action_timing " +
      "action_reference_old_table action_reference_new_table action_reference_old_row " +
      "action_reference_new_row created",
    "action_condition action_statement",
  ),
  "information_schema.user_defined_types": columns(
    "user_defined_type_catalog user_defined_type_schema user_defined_type_name " +
      "user_defined_type_category is_instantiable is_final ordering_form ordering_category " +
      "ordering_routine_catalog ordering_routine_schema ordering_routine_name reference_type " +
      "data_type character_maximum_length character_octet_length character_set_catalog " +
      "character_set_schema character_set_name collation_catalog collation_schema collation_name " +
      "numeric_precision numeric_precision_radix numeric_scale datetime_precision interval_type " +
      "interval_precision source_dtd_identifier ref_dtd_identifier",
  ),
  "information_schema.view_column_usage": columns(
    "view_catalog view_schema view_name table_catalog table_schema table_name column_name",
  ),
  "information_schema.view_table_usage": columns(
    "view_catalog view_schema view_name table_catalog table_schema table_name",
  ),
  "information_schema.views": columns(
    "table_catalog table_schema table_name check_option is_updatable is_insertable_into " +
      "is_trigger_updatable is_trigger_deletable is_trigger_insertable_into",
    "view_definition",
  ),
};

function columns(shown: string, hidden = ""): CatalogColumns {
  return {
    shown: new Set(shown.split(" ")),
    hidden: new Set(hidden === "" ? [] : `${hidden} ${SYSTEM_COLUMNS}`.split(" ")),
  };
}
