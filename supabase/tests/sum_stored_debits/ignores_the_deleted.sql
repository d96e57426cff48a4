begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
select tests.create_user('leaver');
insert into private.stored_debits (user_id, name, byte_count)
values (tests.user_id('leaver'), 'ledger_bytes', 10), (tests.user_id('owner'), 'ledger_bytes', 5);
delete from public.tasks;
delete from auth.users where id = tests.user_id('leaver');

select is(private.sum_stored_debits(2), 2, 'no more than the requested number is added');
select cmp_ok(private.sum_stored_debits(1000), '>=', 0, 'debits of deleted jobs and users are no error');
select results_eq('select name, byte_count from private.stored_uses where byte_count <> 0', $$values ('ledger_bytes', 5::bigint)$$, 'and count for nobody');

select * from finish();
rollback;
