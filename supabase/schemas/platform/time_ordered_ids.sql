-- Time-ordered ids. Random ids are spread over all pages of an index, so after each checkpoint of the
-- server almost every insert writes a whole page to the WAL. Ids of the same time share pages.

create function private.new_id()
returns uuid
language plpgsql
set search_path = ''
as $$
begin
  return (
    lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
    || '7' || substr(gen_random_uuid()::text, 16)
  )::uuid;
end;
$$;
comment on function private.new_id() is
  'A version 7 UUID: 48 bits of milliseconds since 1970, then 74 random bits. For rows that are created in large numbers. Do not use it for tokens, which must be fully random.';

create function private.first_id_of(p_at timestamptz)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return rpad(lpad(to_hex(greatest(floor(extract(epoch from p_at) * 1000)::bigint, 0)), 12, '0'), 32, '0')::uuid;
end;
$$;
comment on function private.first_id_of(timestamptz) is
  'The smallest id that new_id() can return at this time or later.';
