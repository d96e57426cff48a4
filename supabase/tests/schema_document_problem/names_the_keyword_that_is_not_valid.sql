begin;
set local search_path = public, extensions;
select plan(25);

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
select is(pg_temp.field('{"properties": {"a": {"multipleOf": 0}}}'), 'schema.properties.a.multipleOf', 'a divisor is above zero');
select is(pg_temp.field('{"not": {"uniqueItems": 1}}'), 'schema.not.uniqueItems', 'uniqueItems is true or false');
select is(pg_temp.field('{"dependentRequired": {"a": "b"}}'), 'schema.dependentRequired', 'dependentRequired has lists of names');
select is(pg_temp.field('{"format": 5}'), 'schema.format', 'a format is a text');
select is(pg_temp.field('{"contains": {"minContains": -1}}'), 'schema.contains.minContains', 'a number of items is not negative');
select is(pg_temp.field('{"$schema": "https://example.com/own"}'), 'schema.$schema', 'a draft is a known one');
select is(pg_temp.field('{"$schema": "http://json-schema.org/draft-07/schema#"}'), null, 'such as draft 7');
select is(pg_temp.field('{"if": {"$ref": "#/$defs/b"}, "$defs": {"a": {}}}'), 'schema.if.$ref', 'a reference refers to a part of the schema');
select is(pg_temp.field('{"if": {"$ref": "#/$defs/a~1b/items"}, "$defs": {"a/b": {"items": {"$ref": "#"}}}}'), null, 'which may be anywhere');
select is(pg_temp.field('{"items": {"$ref": "https://example.com/order.json"}}'), 'schema.items.$ref', 'and not in another document');
select is(pg_temp.field('{"$id": "https://example.com/order.json", "items": {"$ref": "order.json"}}'), null, 'an id may be referred to');
select is(pg_temp.field('{"items": {"$ref": "#a"}, "$defs": {"b": {"$anchor": "a"}}}'), null, 'and an anchor');
select is(pg_temp.field('{"const": {"$ref": "#/none"}, "default": {"$ref": "x"}, "properties": {"$ref": {"type": "string"}}}'), null,
  'data is not a reference, nor is a property of the name');
select is(pg_temp.field('{"items": {"$dynamicRef": "#a"}}'), 'schema.items.$dynamicRef', 'nothing follows dynamic references');
select is(pg_temp.field(jsonb_build_object('enum', array[repeat('a', 100001)])), 'schema', 'a schema has a limited size');
select is(
  tests.code_of($$select private.create_task('worker-agent', '{}', p_output_schema => '{"type": "objekt"}')
    from tests.create_agent('worker-agent')$$),
  'OUTPUT_SCHEMA_INVALID', 'a task with an invalid output_schema is refused'
);

select * from finish();
rollback;
