begin;
set local search_path = public, extensions;
select plan(3);

update private.wake_gate set last_wake_at = '-infinity';
select ok(cardinality(private.pass_wake_gates(array['supaswarm_tasks'])) = 1, 'the first task passes the gate');
-- The next task comes in time on a slow machine too.
update private.wake_gate set last_wake_at = last_wake_at + interval '1 hour';
select ok(cardinality(private.pass_wake_gates(array['supaswarm_tasks'])) = 0, 'the next task finds it closed');
select count(*) from private.claim_tasks('w1', 1, 30);
select ok(cardinality(private.pass_wake_gates(array['supaswarm_tasks'])) = 1, 'a claim that leaves the worker idle opens it again');

select * from finish();
rollback;
