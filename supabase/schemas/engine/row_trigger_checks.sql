-- Row triggers: what is wrong with a definition, and the triggers of its table.

create function private.unknown_column(p_field text, p_table oid, p_columns text[])
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  v_known constant text[] := array(
    select attname::text from pg_catalog.pg_attribute
    where attrelid = p_table and attnum > 0 and not attisdropped order by attnum
  );
  v_name text;
begin
  foreach v_name in array coalesce(p_columns, '{}') loop
    if (v_name = any (v_known)) is not true then
      return row(p_field, format('names the column %s, which the table does not have', coalesce(to_json(v_name)::text, 'null')),
        private.did_you_mean(coalesce(v_name, ''), v_known) || format('It has %s.', array_to_string(v_known[:30], ', ')))::private.row_problem;
    end if;
  end loop;
  return null;
end;
$$;
comment on function private.unknown_column(text, oid, text[]) is 'The problem of the first column that a table does not have.';

create function private.row_condition_problem(p_table oid, p_conditions jsonb)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  c_ops constant text[] := array['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in', 'is_null', 'not_null'];
  v_condition jsonb;
  v_value jsonb;
  v_is_valid boolean;
  v_problem private.row_problem;
begin
  for v_condition in select * from jsonb_array_elements(p_conditions) loop
    if jsonb_typeof(v_condition) <> 'object' or v_condition - '{column,op,value}'::text[] <> '{}' then
      return row('conditions', 'is ' || left(v_condition::text, 200), 'Write a list of {column, op, value}.')::private.row_problem;
    end if;
    v_problem := private.choice_problem('conditions.op', v_condition ->> 'op', c_ops);
    if v_problem.field is null then
      v_problem := private.unknown_column('conditions', p_table, array[v_condition ->> 'column']);
    end if;
    if v_problem.field is not null then
      return v_problem;
    end if;
    v_value := v_condition -> 'value';
    v_is_valid := case
      when v_condition ->> 'op' in ('is_null', 'not_null') then v_value is null
      when v_condition ->> 'op' = 'in' then jsonb_typeof(v_value) = 'array' and v_value <> '[]' and not v_value @> '[null]'
      else v_value <> 'null'
    end;
    if v_is_valid is not true then
      return row('conditions.value', coalesce('is ' || left(v_value::text, 200), 'is missing'),
        'is_null and not_null have no value, in has a list of at least one, and the others have one value; use is_null for null.')::private.row_problem;
    end if;
  end loop;
  return null;
end;
$$;
comment on function private.row_condition_problem(oid, jsonb) is 'The first problem of the form of conditions [{column, op, value}].';

create function private.triggered_table_problem(p_trigger public.row_triggers)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  v_table constant oid := private.triggered_table(p_trigger.table_name);
begin
  return case
    when v_table is null then
      row('table', private.shown_value(p_trigger.table_name) || ', and there is no such table',
        'Write the name exactly as it is, without quotes: orders, or shop.orders in another schema than the default. '
        'After the table was renamed or dropped, correct or remove the trigger.')::private.row_problem
    when private.is_platform_table(v_table) then
      row('table', private.shown_value(p_trigger.table_name) || ', a table of the platform', 'Name a table of the project.')::private.row_problem
    when private.primary_key_of(v_table) is null then
      row('table', private.shown_value(p_trigger.table_name) || ', which has no primary key', 'Add a primary key to the table.')::private.row_problem
  end;
end;
$$;
comment on function private.triggered_table_problem(public.row_triggers) is 'The problem of the table that a row trigger names.';

create function private.row_trigger_problem(p_trigger public.row_triggers)
returns private.row_problem
language plpgsql
stable
set search_path = ''
as $$
declare
  v_table constant oid := private.triggered_table(p_trigger.table_name);
  v_problem private.row_problem := private.triggered_table_problem(p_trigger);
  v_event text;
begin
  if v_problem.field is null then
    v_problem := private.row_condition_problem(v_table, p_trigger.conditions);
  end if;
  if v_problem.field is null then
    select (listed.problem).* into v_problem
    from (values
      (private.unknown_column('columns', v_table, p_trigger.columns)),
      (private.unknown_column('key', v_table, p_trigger.key)),
      (private.unknown_column('owner_column', v_table, array_remove(array[p_trigger.owner_column], null))),
      (private.unknown_column('input', v_table, array(select value from jsonb_each_text(p_trigger.input))))
    ) as listed (problem)
    where (listed.problem).field is not null
    limit 1;
  end if;
  if v_problem.field is not null then
    return v_problem;
  end if;
  v_problem := case
    when p_trigger.columns is not null and (p_trigger.columns = '{}' or not 'update' = any (p_trigger.events)) then
      row('columns', 'has no effect', 'Name the columns whose updates count, with update among the events.')::private.row_problem
    when p_trigger.key = '{}' then row('key', 'is empty', 'Name its columns, or leave it out for the primary key.')::private.row_problem
    when p_trigger.input = '{}' then row('input', 'is empty', 'Write {key: column}, or leave it out for the whole row.')::private.row_problem
    when p_trigger.starts_per = 'statement' and (p_trigger.key is not null or p_trigger.debounce_seconds > 0) then
      row('starts_per', 'is "statement", which key and debounce_seconds do not apply to', 'Remove these, or write row.')::private.row_problem
    when private.column_type(v_table, p_trigger.owner_column) <> 'uuid'::regtype then
      row('owner_column', private.shown_value(p_trigger.owner_column) || ', which is not of the type uuid',
        'Name a column with ids of auth.users.')::private.row_problem
  end;
  if v_problem.field is not null then
    return v_problem;
  end if;
  begin
    foreach v_event in array p_trigger.events loop
      execute format('select from (%s) as probe where false', private.row_start_statement(
        p_trigger => p_trigger, p_event => v_event,
        p_new_rows => v_table::regclass::text, p_old_rows => v_table::regclass::text))
      using p_trigger.id, null::uuid, true, null::text, null::text[], clock_timestamp(), null::jsonb;
    end loop;
  exception when others then
    return row('conditions', 'cannot be checked against the table: ' || sqlerrm, 'Write values of the types of their columns.')::private.row_problem;
  end;
  return null;
end;
$$;
comment on function private.row_trigger_problem(public.row_triggers) is
  'The first problem of a row trigger: its table, columns, values and what does not go together; null if there is none. Tries the statement of each event on no row.';

-- Attaching ---------------------------------------------------------------------------------------

create function private.attached_triggers(p_trigger_id uuid)
returns table (table_id oid, name text, event text, is_enabled boolean)
language sql
stable
set search_path = ''
as $$
  select present.tgrelid, present.tgname::text, wanted.event, present.tgenabled <> 'D'
  from unnest(array['insert', 'update', 'delete']) as wanted (event)
  join pg_catalog.pg_trigger as present on present.tgname = format('supaswarm_%s_%s', wanted.event, p_trigger_id)
  where present.tgfoid = 'private.record_row_starts()'::regprocedure;
$$;
comment on function private.attached_triggers(uuid) is 'The triggers of a row trigger on tables, also on a table that was renamed.';

create function private.attach_row_trigger(p_trigger public.row_triggers)
returns void
language plpgsql
set search_path = ''
-- Creating a trigger waits for writers of the table, and others wait behind it.
set lock_timeout = '3s'
as $$
declare
  v_table constant oid := private.triggered_table(p_trigger.table_name);
  v_events constant text[] := case when p_trigger.is_active then p_trigger.events else '{}' end;
  v_event text;
  v_statement text;
  v_present record;
begin
  delete from private.row_trigger_statements as stored
  where stored.trigger_id = p_trigger.id and stored.event <> all (v_events);
  for v_present in
    select * from private.attached_triggers(p_trigger.id) as present
    where present.event <> all (v_events) or present.table_id is distinct from v_table or not present.is_enabled
  loop
    execute format('drop trigger %I on %s', v_present.name, v_present.table_id::regclass);
  end loop;
  foreach v_event in array v_events loop
    v_statement := private.row_start_statement(p_trigger, v_event);
    insert into private.row_trigger_statements as stored (trigger_id, event, statement)
    values (p_trigger.id, v_event, v_statement)
    on conflict (trigger_id, event) do update set statement = excluded.statement
    where stored.statement <> excluded.statement;
    if not exists (select from private.attached_triggers(p_trigger.id) as present where present.event = v_event) then
      execute format('create trigger %I after %s on %s referencing %s for each statement execute function private.record_row_starts(%L)',
        format('supaswarm_%s_%s', v_event, p_trigger.id), v_event, v_table::regclass,
        case v_event when 'insert' then 'new table as new_rows' when 'delete' then 'old table as old_rows'
          else 'new table as new_rows old table as old_rows' end,
        p_trigger.id);
    end if;
  end loop;
exception
  when lock_not_available then
    perform private.raise_error('TRIGGER_TABLE_BUSY',
      format('Cannot save the trigger "%s": the table %s was locked for 3 seconds', p_trigger.name, p_trigger.table_name),
      'Save it again when the transactions that write the table have ended; pg_stat_activity shows them.');
  when insufficient_privilege then
    perform private.raise_error('TRIGGER_INVALID',
      format('Cannot save the trigger "%s": the migration role may not create triggers on %s', p_trigger.name, p_trigger.table_name),
      format('Let the owner of the table run: grant trigger on %s to %I.', v_table::regclass, current_user));
end;
$$;
comment on function private.attach_row_trigger(public.row_triggers) is
  'Creates the triggers of a row trigger that its table lacks, drops those that it should not have, and stores their statements; a definition without a change locks no table. Raises TRIGGER_TABLE_BUSY, TRIGGER_INVALID.';

create function private.check_row_trigger()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_attempt constant text := format('save the trigger "%s"', new.name);
begin
  perform private.assert_has_own_scope(v_attempt, 'swarm:configure');
  perform private.assert_no_problem(private.choice_problem('events', listed.event, '{insert,update,delete}'), 'TRIGGER_INVALID', v_attempt)
  from unnest(new.events) as listed (event);
  perform private.assert_no_problem(private.choice_problem('starts_per', new.starts_per, '{row,statement}'), 'TRIGGER_INVALID', v_attempt);
  -- A trigger whose table or agent is gone can still be deactivated.
  if new.is_active or tg_op = 'INSERT' or row(old.table_name, old.agent) is distinct from row(new.table_name, new.agent) then
    perform private.id_of('agent', new.agent, v_attempt);
    perform private.assert_no_problem(private.row_trigger_problem(new), 'TRIGGER_INVALID', v_attempt);
  end if;
  if not private.is_service_caller() and private.schema_of_table(new.table_name) <> private.schema_of_table('') then
    perform private.raise_error('TRIGGER_INVALID',
      format('Cannot %s: over the API, only tables of the default schema get triggers, and %s is not one', v_attempt, new.table_name),
      'Write it into triggers.yaml and push it.');
  end if;
  new.updated_at := clock_timestamp();
  return new;
end;
$$;
comment on function private.check_row_trigger() is
  'Row trigger of row_triggers, before a write: checks the definition. People with the scope swarm:configure name only tables of the default schema, whose rows the REST API shows to the service; a schema that a project hides stays with those who have a connection to its database. Raises TRIGGER_INVALID, AGENT_NOT_FOUND, INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED. Definer: the service may not execute what it calls.';
create trigger row_triggers_check before insert or update on public.row_triggers
  for each row execute function private.check_row_trigger();

create function private.follow_row_trigger()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    old.is_active := false;
    perform private.attach_row_trigger(old);
    delete from private.row_starts where trigger_id = old.id;
    delete from private.row_start_counts where trigger_id = old.id;
    return null;
  end if;
  perform private.attach_row_trigger(new);
  if not new.is_active then
    update private.row_starts
    set error = jsonb_build_object('code', 'TRIGGER_INACTIVE', 'message', 'The trigger was deactivated before the job started',
      'hint', 'Activate the trigger, then retry the start with operator_retry_row_starts().')
    where trigger_id = new.id and error is null;
  end if;
  return null;
end;
$$;
comment on function private.follow_row_trigger() is
  'Row trigger of row_triggers, after a write: the triggers of its table follow it, starts of an inactive one fail, and those of a removed one are deleted. Definer: the service may not create triggers on a project''s tables.';
create trigger row_triggers_follow after insert or update or delete on public.row_triggers
  for each row execute function private.follow_row_trigger();

create function private.row_trigger_problems()
returns table (kind text, name text, field text, problem text, hint text)
language sql
stable
set search_path = ''
as $$
  select 'trigger', checked.name, (checked.found).field, (checked.found).problem, (checked.found).hint
  from (
    select listed.name, private.row_trigger_problem(listed) as found from public.row_triggers as listed where listed.is_active
    union all
    select listed.name, row('table', format('has no active trigger for %s: it was dropped, or disabled, or the table was created again',
        string_agg(event, ', ')), 'Push triggers.yaml, or save the trigger in the console.')::private.row_problem
    from public.row_triggers as listed
    cross join unnest(listed.events) as event
    where listed.is_active and private.triggered_table(listed.table_name) is not null and not exists (
      select from private.attached_triggers(listed.id) as present
      where present.event = event and present.is_enabled and present.table_id = private.triggered_table(listed.table_name)
    )
    group by listed.name
    union all
    select listed.name, case
      when agent.id is null then row('agent', private.shown_value(listed.agent) || ', and there is no such agent', 'Name another agent.')::private.row_problem
      when not agent.is_active then row('agent', private.shown_value(listed.agent) || ', which is not active', 'Activate the agent, or deactivate the trigger.')::private.row_problem
    end
    from public.row_triggers as listed
    left join public.agents as agent on agent.slug = listed.agent
    where listed.is_active
    union all
    select listed.name, row('starts', format('failed %s times; once: %s', count(*), max(start.error ->> 'message')),
      'Correct the cause, then start them with operator_retry_row_starts(). operator_row_starts lists them.')::private.row_problem
    from private.row_starts as start
    join public.row_triggers as listed on listed.id = start.trigger_id and listed.is_active
    -- What a user may not start is not a problem of the configuration.
    where start.error is not null and start.error ->> 'code' <> 'FORBIDDEN'
    group by listed.name
  ) as checked
  where (checked.found).field is not null;
$$;
comment on function private.row_trigger_problems() is
  'Active row triggers that will start no jobs: their table, a column or their agent is gone, their trigger is missing, or starts have failed.';
