begin;
set local search_path = public, extensions;
select plan(4);

create temp table project on commit drop as select tests.create_project('docs') as id;
create function pg_temp.read(p_path text) returns text language plpgsql as $$
begin
  return (select state || ' ' || file_path from public.read_document((select id from project), p_path));
exception when sqlstate 'PT404' then
  return sqlerrm;
end;
$$;
select tests.write_document(id, 'old.md', 'text'), tests.write_document(id, 'gone.md', 'text') from project;
select private.move_document(id, 'old.md', 'new.md') from project;
select private.delete_document(id, 'new.md', 'c0ffee'), private.delete_document(id, 'gone.md', 'c0ffee') from project;
insert into public.quoth_file_errors (project_id, file_path, error)
select id, path, '{"code": "FILE_TOO_LARGE", "message": "Cannot index it: it is too large", "hint": "Split it."}'
from project, (values ('new.md'), ('never.md')) as refused (path);

select is(
  pg_temp.read('./never.md'), 'Cannot read ''never.md'': the file is in the repository but not indexed. Cannot index it: it is too large', 'a refused file that was never indexed'
);
select is(
  pg_temp.read('new.md'), 'Cannot read ''new.md'': the file is in the repository but not indexed. Cannot index it: it is too large', 'a refused file that was indexed before'
);
select is(
  pg_temp.read('old.md'), 'Cannot read ''new.md'': the file is in the repository but not indexed. Cannot index it: it is too large', 'a refused file under its old path'
);
select is(pg_temp.read('gone.md'), 'deleted gone.md', 'a deleted file');

select * from finish();
rollback;
