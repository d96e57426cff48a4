begin;
set local search_path = public, extensions;
select plan(26);

create temp table pay on commit drop as select '{"type": "object", "required": ["to"], "properties": {"to": {"type": "string", "minLength": 2}, "amount": {"type": "integer", "minimum": 1, "exclusiveMaximum": 100}, "tags": {"type": "array", "maxItems": 2, "items": {"enum": ["a", "b"]}}}}'::jsonb as schema;

select is(private.schema_problem((select schema from pay), '{"to": "eve", "amount": 99, "tags": ["a"]}', '$'), null, 'a matching value has no problem');
select is(private.schema_problem((select schema from pay), '{"to": "eve", "amount": 1.0}', '$'), null, '1.0 is an integer');
select is(private.schema_problem((select schema from pay), '[]', '$'), '$ is of the type array, but the schema requires "object"', 'a wrong type is named');
select is(private.schema_problem((select schema from pay), '{"amount": 1}', '$'), '$ lacks to', 'a missing member is named');
select is(private.schema_problem((select schema from pay), '{"to": "eve", "amount": "1"}', '$'), '$.amount is of the type string, but the schema requires "integer"', 'so is its path');
select is(private.schema_problem((select schema from pay), '{"to": "eve", "amount": 1.5}', '$'), '$.amount is of the type number, but the schema requires "integer"', '1.5 is no integer');
select is(private.schema_problem((select schema from pay), '{"to": "eve", "amount": 0}', '$'), '$.amount is outside the limits of the schema: minimum 1, exclusiveMaximum 100', 'a minimum is a limit');
select is(private.schema_problem((select schema from pay), '{"to": "eve", "amount": 100}', '$'), '$.amount is outside the limits of the schema: minimum 1, exclusiveMaximum 100', 'so is an exclusive maximum');
select is(private.schema_problem((select schema from pay), '{"to": "e"}', '$'), '$.to is outside the limits of the schema: minLength 2', 'so is a length');
select is(private.schema_problem((select schema from pay), '{"to": "eve", "tags": ["a", "b", "a"]}', '$'), '$.tags is outside the limits of the schema: maxItems 2', 'so is a number of items');
select is(private.schema_problem((select schema from pay), '{"to": "eve", "tags": ["a", "c"]}', '$'), '$.tags[1] is not one of ["a", "b"]', 'an item is named by its place');
select is(private.schema_problem((select schema from pay), '{"to": "eve", "cc": "mallory"}', '$'), '$.cc is not declared', 'a member that the gateway would drop is refused');
select is(private.schema_problem('{"properties": {"a": {}}, "additionalProperties": true}'::jsonb, '{"b": 1}', '$'), null, 'others are allowed when the schema says so');
select is(private.schema_problem('{"properties": {"a": {}}, "additionalProperties": false}'::jsonb, '{"b": 1}', '$'), '$.b is not allowed', 'and refused when it says so');
select is(private.schema_problem('{"additionalProperties": {"type": "string"}}'::jsonb, '{"b": 1}', '$'), '$.b is of the type integer, but the schema requires "string"', 'others have the type that it says');
select is(private.schema_problem('{"type": ["string", "null"]}'::jsonb, 'null', '$'), null, 'one of several types matches');
select is(private.schema_problem('{"type": "number"}'::jsonb, '1', '$'), null, 'an integer is a number');
select is(private.schema_problem('{"const": "x"}'::jsonb, '"y"', '$'), '$ is not "x"', 'a constant is checked');
select is(private.schema_problem('{"anyOf": [{"type": "string"}, {"properties": {"a": {"type": "string"}}, "required": ["a"]}]}'::jsonb, '{"a": "x", "b": 1}', '$'), null, 'one alternative suffices, and declares its part only');
select is(private.schema_problem('{"oneOf": [{"type": "string"}, {"required": ["a"]}]}'::jsonb, '{"b": 1}', '$'), '$ matches none of the schema''s alternatives', 'none does not');
select is(private.schema_problem('{"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]}'::jsonb, '{"a": "x", "b": 1}', '$'), '$.b is of the type integer, but the schema requires "string"', 'every part of a combination counts');
select is(private.schema_problem('{"$ref": "#/$defs/a"}'::jsonb, '1', '$'), null, 'a reference is left to the gateway');
select is(private.schema_problem('{"type": 5, "enum": {}, "required": "x", "properties": [], "minimum": "1", "items": 3, "anyOf": {}, "allOf": "x"}'::jsonb, '{"a": [1]}', '$'), null, 'keywords of a wrong type are ignored');
select is(private.schema_problem('null'::jsonb, '1', '$'), null, 'no schema allows everything');
select is(private.schema_problem('{"additionalProperties": {"type": "object"}}'::jsonb, '{"a": {}, "b": {"c": 1}}', '$'), null, 'an inner schema without properties is open');
select is(private.schema_problem('false'::jsonb, '1', '$'), '$ is not allowed', 'the schema false allows nothing');

select * from finish();
rollback;
