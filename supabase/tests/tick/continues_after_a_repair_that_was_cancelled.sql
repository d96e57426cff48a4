begin;
set local search_path = public, extensions;
select plan(3);

select private.configure_project_url('http://127.0.0.1:1');
create function private.canceled(p_id uuid) returns boolean language plpgsql as $$
begin
  if p_id = '00000000-0000-0000-0000-000000000001' then
    raise query_canceled using message = 'canceling statement due to statement timeout';
  end if;
  return true;
end;
$$;
select is(
  private.run_for_each('canceled', array['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002']::uuid[]),
  1, 'the row after one that took too long is handled'
);

create or replace function private.end_expired_tasks() returns int language plpgsql as
$$ begin raise query_canceled; end $$;
select lives_ok('select private.tick()', 'a tick of which a repair was canceled');
select results_eq(
  'select routine, last_row_id, last_error_code from public.maintenance_failures order by routine',
  $$values ('canceled', '00000000-0000-0000-0000-000000000001', '57014'), ('end_expired_tasks', null, '57014')$$,
  'operators see both'
);

select * from finish();
rollback;
