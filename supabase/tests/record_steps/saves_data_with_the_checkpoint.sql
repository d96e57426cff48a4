begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));

select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "system", "state": "done", "name": "save_intermediate_data", "output": {}, "data": {"a": 1}},
  {"seq": 2, "kind": "system", "state": "done", "name": "save_intermediate_data", "output": {}, "data": {"b": null}, "storage_path": "x/y/z"}
]');

select is((select intermediate_data from public.tasks), '{"a": 1, "b": null}'::jsonb, 'values are stored by key');
select is((select storage_paths from public.tasks), array['x/y/z'], 'each path is stored once');

select * from finish();
rollback;
