begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select * from private.claim_tasks('w1', 1, 30);
select private.begin_steps(task_id, epoch, 30, '[{"seq": 1, "kind": "system", "name": "request_human_review", "call_id": "c1"}]') from child;
select private.request_review(p_task_id => task_id, p_epoch => epoch, p_seq => 1, p_question => 'May I?') from child;
create temp table other on commit drop as select tests.create_task() as id;
update private.task_events set at = now() - interval '100 days';
create function pg_temp.types(p_master_task_id uuid) returns text[] language sql as $$
  select array_agg(type) from public.task_events where master_task_id = p_master_task_id
$$;

select isnt(pg_temp.types((select id from other)), null, 'another job has old events');
select private.drop_old_partitions(), private.delete_old_events(1000);
select is(pg_temp.types((select id from other)), null, 'they are deleted');
select ok('review.requested' = any (pg_temp.types((select id from made))), 'the question is kept');
select ok('task.created' = any (pg_temp.types((select id from made))), 'so are the events of the whole job');

select private.respond_to_review(task_id, true, '{}', null) from child;
update private.task_events set at = now() - interval '100 days';
select private.drop_old_partitions(), private.delete_old_events(1000);
select is(pg_temp.types((select id from made)), null, 'after the answer they are deleted too');
select is((select count(*)::int from public.human_reviews), 1, 'the review stays');

select * from finish();
rollback;
