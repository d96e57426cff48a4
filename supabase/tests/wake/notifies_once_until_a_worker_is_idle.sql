begin;
set local search_path = public, extensions;
select plan(3);

update private.wake_gate set last_wake_at = '-infinity';
select ok('listener' = any (private.pass_wake_gates()), 'the first task passes the gate');
select ok(not 'listener' = any (private.pass_wake_gates()), 'the next one finds it closed');
select count(*) from private.claim_tasks('w1', 1, 30);
select ok('listener' = any (private.pass_wake_gates()), 'a claim that leaves the worker idle opens it again');

select * from finish();
rollback;
