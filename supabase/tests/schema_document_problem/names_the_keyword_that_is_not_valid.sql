begin;
set local search_path = public, extensions;
select plan(10);

create function pg_temp.field(p_schema jsonb) returns text language sql as $$
  select (private.schema_document_problem('schema', p_schema)).field;
$$;

select is(pg_temp.field('{"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"], "additionalProperties": false}'), null, 'a schema has no problem');
select is(pg_temp.field(null), null, 'nor has none');
select is(pg_temp.field('{"x-own": 1, "format": "uuid", "default": 5}'), null, 'unknown keywords are allowed');
select is(pg_temp.field('{"type": "objekt"}'), 'schema.type', 'a type is one of seven');
select is(pg_temp.field('{"items": {"anyOf": [{"type": "string"}, {"type": "int"}]}}'), 'schema.items.anyOf[].type', 'inner schemas are checked');
select is(pg_temp.field('{"properties": ["a"]}'), 'schema.properties', 'properties are an object');
select is(pg_temp.field('{"required": "a"}'), 'schema.required', 'required is a list');
select is(pg_temp.field('{"minLength": -1}'), 'schema.minLength', 'a length is not negative');
select is(pg_temp.field('{"properties": {"a": 5}}'), 'schema.properties.a', 'a property is a schema');
select is(
  tests.code_of($$select private.create_task('worker-agent', '{}', p_output_schema => '{"type": "objekt"}')
    from tests.create_agent('worker-agent')$$),
  'OUTPUT_SCHEMA_INVALID', 'a task with an invalid output_schema is refused'
);

select * from finish();
rollback;
