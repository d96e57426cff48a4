begin;
set local search_path = public, extensions;
select plan(8);

create temp table project on commit drop as select tests.create_project('docs') as id;
create function pg_temp.read(p_path text) returns text language sql as $$
  select state || ' ' || file_path from public.read_document((select id from project), p_path);
$$;
select tests.create_user('stranger');
select tests.write_document(id, 'a.md', 'text') from project;

select is(pg_temp.read('./a.md'), 'found a.md', 'a document is read by its path');
select private.move_document(id, 'a.md', 'b.md') from project;
select private.move_document(id, 'b.md', 'c/d.md') from project;
select is(pg_temp.read('a.md'), 'moved c/d.md', 'a path is followed through several moves');
select tests.write_document(id, 'a.md', 'another') from project;
select is(pg_temp.read('a.md'), 'found a.md', 'a new document at the old path takes precedence');
select private.delete_document(id, 'c/d.md', 'dead') from project;
select is(pg_temp.read('b.md'), 'deleted c/d.md', 'a moved document was deleted');
select is(
  (select array[content, commit_sha] from project, public.read_document(id, 'c/d.md')), array[null, 'dead'],
  'only its commit is returned, not its content'
);
select is(tests.code_of('select pg_temp.read(''nowhere.md'')'), 'DOCUMENT_NOT_FOUND', 'an unknown path is not found');
select ok(not (select private.delete_document(id, 'c/d.md') from project), 'a repeated deletion reports that it changed nothing');
create temp table call on commit drop as
  select format('select * from public.read_document(%L, ''a.md'')', id) as text from project;
grant select on call to authenticated;
select tests.act_as_user('stranger');
select is(tests.code_of((select text from call)), 'PROJECT_NOT_FOUND', 'a stranger learns nothing');
select tests.act_as_nobody();

select * from finish();
rollback;
