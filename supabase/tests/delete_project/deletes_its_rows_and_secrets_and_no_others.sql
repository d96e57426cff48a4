begin;
set local search_path = public, extensions;
select plan(4);

select private.add_project('one', 'org/one', null, null, null, null, 'secret-one');
select private.add_project('two', 'org/two', null, null, null, null, 'secret-two');
insert into public.documents (project_id, file_path, title, content, checksum)
select id, 'a.md', 'A', '', '' from public.projects;

select is(
  private.delete_project('one') - 'project_id',
  '{"slug": "one", "document_count": 1, "chunk_count": 0, "member_count": 0}', 'the answer contains the deleted counts'
);
select results_eq('select slug from public.projects', array['two']);
select is((select count(*)::int from public.documents), 1, 'the other project keeps its documents');
select is(
  (select count(*)::int from vault.secrets where name like 'supaswarm/project/%'), 1, 'its secret is deleted'
);

select * from finish();
rollback;
