-- Checks that the Realtime server runs on behalf of its clients.
--
-- Each check is one statement that runs as the client and changes nothing: it rolls back its work by
-- raising and catching the error SWUND. So no transaction stays open between two messages of the
-- server, which would block all other clients of a server with a single session. None of these
-- functions sets a search_path, because it would also apply to the functions that a policy calls.
-- None of them is a security definer.

create function realtime.become_client(client jsonb) returns void
language plpgsql
as $$
begin
  perform
    pg_catalog.set_config('realtime.topic', coalesce(client ->> 'topic', ''), true),
    pg_catalog.set_config('request.jwt.claims', client ->> 'claims', true),
    pg_catalog.set_config('request.jwt.claim.sub', coalesce(client #>> '{claims,sub}', ''), true),
    pg_catalog.set_config('request.jwt.claim.role', client ->> 'role', true),
    pg_catalog.set_config('request.headers', coalesce(client ->> 'headers', '{}'), true),
    pg_catalog.set_config('role', client ->> 'role', true);
end;
$$;
comment on function realtime.become_client(jsonb) is
  'Runs the rest of the transaction as the client: {"role", "claims", "topic", "headers"}.';

create function realtime.readable_extensions(client jsonb) returns jsonb
language plpgsql
as $$
declare
  probe_ids uuid[];
  answer jsonb;
begin
  begin
    with probes as (
      insert into realtime.messages (topic, extension)
      values (client ->> 'topic', 'broadcast'), (client ->> 'topic', 'presence')
      returning id
    )
    select pg_catalog.array_agg(probes.id) into probe_ids from probes;
    perform realtime.become_client(client);
    select coalesce(pg_catalog.jsonb_agg(message.extension), '[]') into answer
    from realtime.messages as message
    where message.id = any (probe_ids);
    raise exception using errcode = 'SWUND';
  exception
    when sqlstate 'SWUND' then null;
  end;
  return answer;
end;
$$;
comment on function realtime.readable_extensions(jsonb) is
  'Returns the extensions that the client may read on a private channel: inserts probe rows as the server and looks them up as the client. Probe rows have only a topic and an extension.';

create function realtime.may_write(client jsonb, extension text) returns boolean
language plpgsql
as $$
begin
  begin
    perform realtime.become_client(client);
    insert into realtime.messages (topic, extension)
    values (client ->> 'topic', may_write.extension);
    raise exception using errcode = 'SWUND';
  exception
    when sqlstate 'SWUND' then return true;
    when insufficient_privilege then return false;
  end;
end;
$$;
comment on function realtime.may_write(jsonb, text) is
  'Whether the client may send on a private channel: inserts a message as the client.';

create function realtime.ask_as_client(client jsonb, question text, arguments jsonb)
returns jsonb
language plpgsql
as $$
declare
  answer jsonb;
begin
  begin
    perform realtime.become_client(client);
    execute question into answer using arguments;
    raise exception using errcode = 'SWUND';
  exception
    when sqlstate 'SWUND' then null;
  end;
  return answer;
end;
$$;
comment on function realtime.ask_as_client(jsonb, text, jsonb) is
  'Runs a query of the server as the client, with the arguments as $1. The server checks with it which rows of a table the client can read and which filters they match.';

revoke all on function
  realtime.become_client(jsonb),
  realtime.readable_extensions(jsonb),
  realtime.may_write(jsonb, text),
  realtime.ask_as_client(jsonb, text, jsonb)
from public;
