begin;
set local search_path = public, extensions;
select plan(3);

create function pg_temp.answer(p_seq int, p_more jsonb) returns jsonb language sql as $$
  select jsonb_build_object('seq', p_seq, 'kind', 'model', 'state', 'done', 'output',
    jsonb_build_object('text', 'x', 'tool_calls', '[]'::jsonb, 'finish_reason', 'stop') || p_more);
$$;
create temp table listed on commit drop as
  select private.with_answer_end('[{"server": "crm"}]',
    pg_temp.answer(3, '{"unread": ["a part of type image", "its audio"]}')) as warnings;

select is((select warnings from listed),
  '[{"server": "crm"}, {"code": "MODEL_OUTPUT_INVALID", "step_seq": 3,
    "message": "The model''s answer lacks what could not be read: a part of type image; its audio"}]',
  'what could not be read is named');
select is(private.with_answer_end((select warnings from listed), pg_temp.answer(4, '{}')), '[{"server": "crm"}]',
  'a whole answer ends it');
select is(
  (select array_agg(warning ->> 'code')
   from jsonb_array_elements(private.with_answer_end('[]',
     pg_temp.answer(5, '{"finish_reason": "length", "unread": ["its audio"]}'))) as warning),
  '{MODEL_OUTPUT_CUT,MODEL_OUTPUT_INVALID}', 'an answer may be cut too');

select * from finish();
rollback;
