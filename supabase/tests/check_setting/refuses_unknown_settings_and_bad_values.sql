begin;
set local search_path = public, extensions;
select plan(7);

create function pg_temp.write(p_key text, p_value text) returns text language sql as $$
  select tests.code_of(format(
    'insert into private.settings (key, value) values (%L, %L) on conflict (key) do update set value = excluded.value',
    p_key, p_value));
$$;

select is(pg_temp.write('keep_jobs_days', '30'), 'none', 'a number of days is accepted');
select is(pg_temp.write('keep_jobs_days', 'a month'), 'CONFIG_INVALID', 'text that is not a number is refused');
select is(pg_temp.write('keep_jobs_days', '-1'), 'CONFIG_INVALID', 'a negative number is refused');
select is((select value from private.settings where key = 'keep_jobs_days'), '30', 'the setting is unchanged');
select is(pg_temp.write('keep_job_days', '30'), 'CONFIG_INVALID', 'a misspelled name is refused');
select is(pg_temp.write('project_url', 'example.com'), 'CONFIG_INVALID', 'an address without a scheme is refused');
select is(pg_temp.write('realtime_messages_per_second', '400'), 'none', 'other settings are checked by their own rules');

select * from finish();
rollback;
