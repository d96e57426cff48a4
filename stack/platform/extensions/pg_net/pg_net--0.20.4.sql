-- Asynchronous HTTP with the interface of pg_net 0.20.4.
--
-- A call inserts a row into net.http_request_queue, sends a NOTIFY and returns the id. Postgres
-- delivers the NOTIFY at commit, so never for a rolled-back call. The stack's executor then deletes
-- the row, sends the request and stores the response in net._http_response.
--
-- As on a hosted project, everything here is granted to PUBLIC, including queued headers. A header
-- must never hold a secret that some database role must not read.

create schema net;

create domain net.http_method as text
  check (value ilike 'get' or value ilike 'post' or value ilike 'delete');

create type net.request_status as enum ('PENDING', 'SUCCESS', 'ERROR');

create type net.http_response as (
  status_code integer,
  headers jsonb,
  body text
);

create type net.http_response_result as (
  status net.request_status,
  message text,
  response net.http_response
);

create unlogged table net.http_request_queue (
  id bigserial,
  method net.http_method not null,
  url text not null,
  headers jsonb,
  body bytea,
  timeout_milliseconds integer not null
);
comment on table net.http_request_queue is 'Requests that have not been sent yet.';

create unlogged table net._http_response (
  id bigint,
  status_code integer,
  content_type text,
  headers jsonb,
  content text,
  timed_out boolean,
  error_msg text,
  created timestamptz not null default now()
);
comment on table net._http_response is 'Responses, kept for six hours.';
create index _http_response_created_idx on net._http_response (created);

create function net.wake() returns void
language sql
as $$
  select pg_catalog.pg_notify('supaswarm_net', '');
$$;
comment on function net.wake() is 'Notifies the executor, at commit, that there are requests.';

create function net._wake_executor() returns trigger
language plpgsql
as $$
begin
  perform net.wake();
  return null;
end;
$$;

create trigger wake_executor
after insert on net.http_request_queue
for each statement execute function net._wake_executor();

create function net.worker_restart() returns boolean
language sql
as $$
  select true from net.wake();
$$;

create function net.check_worker_is_up() returns void
language sql
as $$
  select net.wake();
$$;

create function net.wait_until_running() returns void
language sql
as $$
  select net.wake();
$$;

-- Percent-encodes all but the unreserved characters of RFC 3986.
create function net._urlencode_string(string varchar) returns text
language sql
immutable
as $$
  select case when string is not null then coalesce(
    string_agg(
      case
        when part.character ~ '^[A-Za-z0-9_.~-]$' then part.character
        else regexp_replace(
          upper(encode(convert_to(part.character, 'UTF8'), 'hex')), '(..)', '%\1', 'g')
      end,
      '' order by part.position),
    '') end
  from regexp_split_to_table(_urlencode_string.string, '')
    with ordinality as part(character, position);
$$;

create function net._encode_url_with_params_array(url text, params_array text[]) returns text
language sql
immutable
as $$
  -- The query must be before the fragment, and needs a path.
  select case
    when coalesce(cardinality(params_array), 0) = 0 then url
    else part[1]
      || case when part[1] ~ '^\w+://[^/?]*$' then '/' else '' end
      || case when position('?' in part[1]) > 0 then '&' else '?' end
      || array_to_string(params_array, '&')
      || part[2]
  end
  from regexp_match(url, '^([^#]*)(.*)$') as part;
$$;

create function net._url_with_params(url text, params jsonb) returns text
language sql
immutable
as $$
  select net._encode_url_with_params_array(
    _url_with_params.url,
    array(
      select net._urlencode_string(param.key) || '=' || net._urlencode_string(param.value)
      from jsonb_each_text(_url_with_params.params) as param
    ));
$$;

-- A JSON body must have this content type. Add it if the caller sets none, refuse any other.
create function net._json_headers(headers jsonb) returns jsonb
language plpgsql
immutable
as $$
declare
  content_type text := (
    select header.value
    from jsonb_each_text(_json_headers.headers) as header
    where lower(header.key) = 'content-type'
    limit 1
  );
begin
  if content_type is null then
    return _json_headers.headers || '{"Content-Type": "application/json"}';
  end if;
  if content_type <> 'application/json' then
    raise exception 'Content-Type header must be "application/json"';
  end if;
  return _json_headers.headers;
end;
$$;

create function net.http_get(
  url text,
  params jsonb default '{}',
  headers jsonb default '{}',
  timeout_milliseconds integer default 5000
) returns bigint
language sql
as $$
  insert into net.http_request_queue (method, url, headers, timeout_milliseconds)
  values (
    'GET',
    net._url_with_params(http_get.url, http_get.params),
    http_get.headers,
    http_get.timeout_milliseconds)
  returning id;
$$;

create function net.http_post(
  url text,
  body jsonb default '{}',
  params jsonb default '{}',
  headers jsonb default '{"Content-Type": "application/json"}',
  timeout_milliseconds integer default 5000
) returns bigint
language sql
as $$
  insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
  values (
    'POST',
    net._url_with_params(http_post.url, http_post.params),
    net._json_headers(http_post.headers),
    convert_to(http_post.body::text, 'UTF8'),
    http_post.timeout_milliseconds)
  returning id;
$$;

create function net.http_delete(
  url text,
  params jsonb default '{}',
  headers jsonb default '{}',
  timeout_milliseconds integer default 5000,
  body jsonb default null
) returns bigint
language sql
as $$
  insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
  values (
    'DELETE',
    net._url_with_params(http_delete.url, http_delete.params),
    http_delete.headers,
    convert_to(http_delete.body::text, 'UTF8'),
    http_delete.timeout_milliseconds)
  returning id;
$$;

create function net._await_response(request_id bigint) returns boolean
language plpgsql
as $$
begin
  while not exists (select from net._http_response where id = _await_response.request_id) loop
    perform pg_sleep(0.05);
  end loop;
  return true;
end;
$$;

create function net._http_collect_response(request_id bigint, async boolean default true)
returns net.http_response_result
language plpgsql
as $$
declare
  answer net._http_response;
begin
  if not async then
    perform net._await_response(_http_collect_response.request_id);
  end if;
  select * into answer
  from net._http_response
  where id = _http_collect_response.request_id;
  if answer.id is null then
    return ('ERROR', 'request matching request_id not found', null)::net.http_response_result;
  end if;
  if answer.error_msg is not null then
    return ('ERROR', answer.error_msg, null)::net.http_response_result;
  end if;
  return (
    'SUCCESS', 'ok',
    (answer.status_code, answer.headers, answer.content)::net.http_response
  )::net.http_response_result;
end;
$$;

create function net.http_collect_response(request_id bigint, async boolean default true)
returns net.http_response_result
language plpgsql
as $$
begin
  raise notice 'The net.http_collect_response function is deprecated.';
  -- Fails like the real function, which discards the response.
  select net._http_collect_response(http_collect_response.request_id, http_collect_response.async);
end;
$$;

grant usage on schema net to public;
grant all on all tables in schema net to public;
grant all on all sequences in schema net to public;
grant execute on all functions in schema net to public;
