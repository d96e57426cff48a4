-- The errors of the product. PostgREST answers the SQLSTATE PT404 with the HTTP status 404.

create function private.raise_error(p_code text, p_message text, p_hint text)
returns void
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'PT' || (select status from private.error_codes where code = p_code),
    message = p_message,
    detail = p_code,
    hint = p_hint;
end;
$$;
comment on function private.raise_error(text, text, text) is
  'Raises an error of the product with the HTTP status of its code. The code is the detail. Definer: callers may not read error_codes.';
grant execute on function private.raise_error(text, text, text) to authenticated, service_role;
