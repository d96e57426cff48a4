begin;
set local search_path = public, extensions;
select plan(4);

create function pg_temp.nested(p_depth int) returns jsonb language sql as
  $$select (repeat('[', p_depth) || repeat(']', p_depth))::jsonb$$;

select is(
  private.storable_parameters(jsonb_build_object('deep', '[[[1], 2]]'::jsonb), p_max_depth => 3),
  '{"deep": [["<left out>", 2]]}', 'only deeper values are omitted');
select is(
  private.storable_parameters(pg_temp.nested(190)), (repeat('[', 32) || '"<left out>"' || repeat(']', 32))::jsonb,
  'each level is a nested call, so there are 32');
select is(private.storable_parameters(pg_temp.nested(32)), pg_temp.nested(32), '32 levels are kept');
select is(
  private.parameter_shape(pg_temp.nested(190), null), (repeat('[', 32) || '"<array>"' || repeat(']', 32))::jsonb,
  'the shape is cut at the same depth');

select * from finish();
rollback;
