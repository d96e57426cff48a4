begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'May I?');
select public.respond_to_review((select id from made), true);
select tests.claim((select id from made));

select is(private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'May I?'), 'continue', 'the answer is available');
select is((select count(*) from public.human_reviews)::int, 1, 'there is one review');

select * from finish();
rollback;
