-- Names that are similar to a mistyped one, for the hints of errors.

create function private.sorted_letters(p_text text)
returns text
language sql
immutable
set search_path = ''
as $$
  select string_agg(letter, '' order by letter) from regexp_split_to_table(lower(sorted_letters.p_text), '') as letter;
$$;
comment on function private.sorted_letters(text) is 'The letters of a text in lower case, sorted.';

create function private.nearest_names(p_name text, p_known text[])
returns text
language sql
immutable
set search_path = ''
as $$
  with near as (
    select known.name, case
      when lower(known.name) = lower(nearest_names.p_name) then 1
      -- The same letters in another order.
      when private.sorted_letters(known.name) = private.sorted_letters(nearest_names.p_name) then 0.9
      else (
        select count(*) from generate_series(1, length(known.name) - 1) as place
        where strpos(lower(nearest_names.p_name), substr(lower(known.name), place, 2)) > 0
      )::numeric / greatest(length(known.name), length(nearest_names.p_name))
    end as likeness
    from unnest(nearest_names.p_known) as known (name)
    where length(nearest_names.p_name) <= 200
  )
  select string_agg(format('"%s"', name), ', ' order by likeness desc, name)
  from (select * from near where likeness >= 0.3 order by likeness desc, name limit 3) as nearest;
$$;
comment on function private.nearest_names(text, text[]) is
  'Up to three of the known names that are similar to a mistyped one, best match first; null when none is similar. Compares pairs of letters, and finds transposed ones.';

create function private.did_you_mean(p_name text, p_known text[])
returns text
language sql
immutable
set search_path = ''
as $$
  select coalesce('Did you mean ' || private.nearest_names(did_you_mean.p_name, did_you_mean.p_known) || '? ', '');
$$;
comment on function private.did_you_mean(text, text[]) is
  'The question "Did you mean …? " with the known names that are similar to a mistyped one, followed by a space; empty when none is similar.';
