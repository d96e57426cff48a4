begin;
set local search_path = public, extensions;
select plan(3);

insert into public.projects (slug, github_repo, head_commit, head_checked_at)
select slug, 'acme/' || slug, 'c0ffee', now() - interval '2 hours' from unnest(array['broken', 'healthy']) as slug;
create function pg_temp.refuse() returns trigger language plpgsql as $$
begin
  if new.project_id = (select id from public.projects where slug = 'broken') then
    raise 'This row is broken';
  end if;
  return new;
end;
$$;
create trigger refuse before insert on public.quoth_syncs for each row execute function pg_temp.refuse();

select lives_ok('select private.quoth_tick()', 'a project that cannot be checked');

select results_eq(
  'select project.slug from public.quoth_syncs as sync join public.projects as project on project.id = sync.project_id',
  array['healthy'], 'the other project is checked'
);
select results_eq(
  'select routine, last_row_id from public.maintenance_failures',
  $$select 'request_head_check', id::text from public.projects where slug = 'broken'$$, 'operators see the failure'
);

select * from finish();
rollback;
