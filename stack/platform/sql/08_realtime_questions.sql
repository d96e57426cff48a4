-- What the Realtime server asks on behalf of its clients.
--
-- Each question is one statement that runs as the client and leaves nothing behind: its work is
-- undone by an error of its own, SWUND, which never leaves the function. So no transaction stays
-- open between two messages of the server, which would hold up everybody else on a server with one
-- session. None of these functions sets a search_path, since it would also hold for the functions
-- that a policy calls; none has rights of its own.

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
  'The rest of the transaction runs as the client: {"role", "claims", "topic", "headers"}.';

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
  'The extensions that the client may read on a private channel: probe rows are inserted as the server and looked for as the client. They have a topic and an extension only.';

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
  'Whether the client may send on a private channel: it inserts a message, as itself.';

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
  'Runs a query of the server as the client; $1 in it is the arguments. Which rows of a table the client sees and which filters they pass is asked this way.';

revoke all on function
  realtime.become_client(jsonb),
  realtime.readable_extensions(jsonb),
  realtime.may_write(jsonb, text),
  realtime.ask_as_client(jsonb, text, jsonb)
from public;
