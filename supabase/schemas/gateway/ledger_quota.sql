-- The ledger counts toward the quota ledger_bytes of the user on whose behalf a call ran.

create function private.debit_ledger()
returns trigger
language plpgsql
-- Operators and retention may write these tables too.
security definer
set search_path = ''
as $$
declare
  v_sign constant int := case tg_op when 'DELETE' then -1 else 1 end;
begin
  -- The constants are the rows themselves, with their places in the indexes.
  if tg_table_name = 'mcp_executions' then
    insert into private.stored_debits (user_id, name, byte_count)
    select written.user_id, 'ledger_bytes', v_sign * sum(
      800 + coalesce(octet_length(written.request_data::text), 0) + coalesce(octet_length(written.response_data::text), 0)
      + coalesce(octet_length(written.learned_sets::text), 0) + coalesce(octet_length(written.error_message), 0)
    )
    from changed as written
    where written.user_id is not null
    group by written.user_id;
  else
    insert into private.stored_debits (user_id, name, byte_count)
    select written.user_id, 'ledger_bytes', v_sign * count(*) * case tg_table_name when 'usage_events' then private.model_call_bytes() else 2500 end
    from changed as written
    where written.user_id is not null
    group by written.user_id;
  end if;
  return null;
end;
$$;
comment on function private.debit_ledger() is
  'Statement trigger: counts tool calls, model calls and grades toward the quota ledger_bytes within seconds, and no longer when they are deleted. Waits for no lock. A grade counts with the longest comment, because it can change. Definer: the roles that write the ledger have no rights on the quotas.';

create trigger mcp_executions_debit after insert on public.mcp_executions
  referencing new table as changed for each statement execute function private.debit_ledger();
create trigger mcp_executions_credit after delete on public.mcp_executions
  referencing old table as changed for each statement execute function private.debit_ledger();
-- record_usage() debits model calls.
create trigger usage_events_credit after delete on public.usage_events
  referencing old table as changed for each statement execute function private.debit_ledger();
create trigger mcp_feedback_debit after insert on public.mcp_feedback
  referencing new table as changed for each statement execute function private.debit_ledger();
create trigger mcp_feedback_credit after delete on public.mcp_feedback
  referencing old table as changed for each statement execute function private.debit_ledger();
