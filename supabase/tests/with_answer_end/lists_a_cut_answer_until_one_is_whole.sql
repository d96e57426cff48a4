begin;
set local search_path = public, extensions;
select plan(5);

create function pg_temp.answer(p_seq int, p_reason text, p_more jsonb default '{}') returns jsonb language sql as $$
  select jsonb_build_object('seq', p_seq, 'kind', 'model', 'state', 'done', 'output',
    jsonb_build_object('text', 'x', 'tool_calls', '[]'::jsonb, 'finish_reason', p_reason) || p_more);
$$;
create temp table listed on commit drop as
  select private.with_answer_end('[{"server": "crm"}]', pg_temp.answer(3, 'length', '{"cut_at_tokens": 100}')) as warnings;

select is(private.with_answer_end('[]', pg_temp.answer(1, 'stop')), '[]', 'a whole answer is not listed');
select is((select warnings from listed),
  '[{"server": "crm"}, {"code": "MODEL_OUTPUT_CUT", "step_seq": 3,
    "message": "The model''s answer was cut at the output limit of 100 tokens"}]', 'a cut one is, with its limit');
select is(private.with_answer_end((select warnings from listed), pg_temp.answer(4, 'length')),
  '[{"server": "crm"}, {"code": "MODEL_OUTPUT_CUT", "step_seq": 4, "message": "The model''s answer was cut at the output limit"}]',
  'the last one alone');
select is(private.with_answer_end((select warnings from listed), pg_temp.answer(4, 'tool_calls')), '[{"server": "crm"}]',
  'a whole answer ends it');
select is(private.with_answer_end('[{"server": "crm", "tool": "find", "code": "MODEL_OUTPUT_CUT"}]', pg_temp.answer(4, 'stop')),
  '[{"server": "crm", "tool": "find", "code": "MODEL_OUTPUT_CUT"}]', 'a call that was cut is listed until its tool succeeds');

select * from finish();
rollback;
