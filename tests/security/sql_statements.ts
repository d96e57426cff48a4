// Statements that the reference corpus lacks, by their class under any policy with the schema
// public.

/** The lines of a text. */
function lines(text: TemplateStringsArray): readonly string[] {
  return String.raw(text).trim().split("\n");
}

/** The short statements, names or calls of a text, which semicolons separate. */
function pieces(text: TemplateStringsArray): readonly string[] {
  return String.raw(text).trim().split(/;\s+/);
}

/** Everything that PostgreSQL 17 lets a reader run is allowed. */
export const READS = lines`
select power(1 + price, 12), exp(avg(ln(price))), 2 ^ 10, 2 ^ (10 - 1), factorial(10 + 5) from products group by price
select repeat('*', n) from (select count(*)::int n from products) x
select repeat('x', (random() * 10)::int), repeat(name, 3), repeat('*', 2 * n) from products, (values (3), (40)) v(n)
select lpad(name, $1) from products
select repeat('  ', depth) || name from (with recursive t as (select 0 as depth, name from products union all select depth + 1, name from t where depth < 9) select * from t) x
select repeat('=', 40) || chr(10), lpad(name, 10), rpad(name, 200), format('%-20s|%5s', name, id) from products
with a as (select name||' '||name||' '||name n from products), b as (select n||n||n||n n from a), c as (select n||n||n n from b) select upper(n||n) from c
with a as (select price*price*1.1 p from products), b as (select p*p*2 p from a), c as (select p*p*p*p p from b) select 100.0*sum(p*p)/nullif(count(*),0) from c
with recursive t(n, path) as (select 1, 'x' union all select n+1, path || '->' || n from t where n < 10) select path from t
select json_build_object('a', json_build_array(1, json_build_object('b', 'c'))), 'x'::char(10), 1::numeric(10,2)
select 1
table products
values (1),(2)
select * from only products
select p.* from products p natural join todos
select * from products p full outer join todos t using (id)
select * from products cross join lateral (select id from todos limit 1) x
select relname, c.oid from pg_catalog.pg_class as c limit 1
select table_name, column_name, c.data_type from information_schema.columns c
select relname from pg_class where relkind = 'r'
select schemaname, tablename, indexname from pg_indexes
select policyname, p.cmd, permissive from pg_policies p
select now(), current_date, current_timestamp, localtime, localtimestamp
select current_user, session_user, current_role, current_catalog, current_schema
select auth.uid()
select auth.role(), auth.email(), auth.jwt() ->> 'sub'
select extract(year from now())
select date_trunc('month', now())
select to_char(now(), 'YYYY')
select '2024-01-01'::date + interval '1 day'
select overlay('abc' placing 'x' from 1 for 1)
select position('a' in 'b'), substring('abc' from 1 for 2), trim(both 'x' from 'xax')
select substring('abc' similar 'a#"b#"c' escape '#')
select 'a' like 'b' escape '\'
select 'a' ilike any (array['a','b'])
select 'a' similar to 'b'
select 'a' ~ 'b', 'a' !~* 'b'
select normalize('a', NFC), 'a' is nfc normalized
select (1,2) < (3,4)
select (row(1,2)).f1
select array_agg(id order by id desc) from products
select (array[1,2,3])[1:2], (array[1,2])[1]
select unnest(array[1,2]) with_ord
select * from unnest(array[1,2], array['a','b']) with ordinality as t(a, b, n)
select generate_series(1, 10)
select * from generate_series('2024-01-01'::date, '2024-02-01', '1 day') d
select json_build_object('a', 1) -> 'a', '{"a":{"b":1}}'::jsonb #>> '{a,b}'
select '{"a":1}'::jsonb @> '{"a":1}', '{"a":1}'::jsonb ? 'a'
select jsonb_path_query('{"a":1}', '$.a')
select * from jsonb_to_recordset('[{"a":1}]') as t(a int)
select * from json_table('[{"a":1}]'::jsonb, '$[*]' columns (n for ordinality, a int path '$.a' default 0 on empty, nested path '$.b[*]' columns (c text path '$')))
select json_value('{"a":1}', '$.a' returning int)
select json_query('{"a":1}', '$.a' with wrapper)
select json_exists('{"a":1}', '$.a')
select '{}' is json object
select json_object('a': 1 absent on null), json_array(1, 2), json_arrayagg(id), json_objectagg('a': 1) from products
select json_scalar(1), json_serialize('{}'), json('{}')
select merge_action_x from products
select xmlelement(name a, xmlattributes(1 as b), 'c'), xmlforest(1 as a), xmlconcat('<a/>','<b/>')
select xmlserialize(content xmlelement(name a) as text), xmlpi(name a), xmlagg(xmlelement(name b)) from products
select count(*), count(distinct id), sum(price) filter (where price > 1) from products
select percentile_cont(0.5) within group (order by price), mode() within group (order by name) from products
select rank() over (partition by name order by price rows between unbounded preceding and current row exclude ties) from products
select lag(price, 1, 0) over w, first_value(name) over w from products window w as (order by id groups 1 preceding)
select ntile(4) over (order by id), cume_dist() over (order by id) from products
with a as materialized (select 1 x), b as not materialized (select 2 y) select * from a, b
with recursive t(n) as (select 1 union all select n + 1 from t where n < 10) select * from t
with recursive t(n) as (select 1 union select n+1 from t where n<9) search depth first by n set ord select * from t
with recursive t(n) as (select 1 union all select n+1 from t where n<9) cycle n set is_cycle using path select * from t
select 1 union all select 2 intersect select 3 except all select 4
(select 1 order by 1 limit 1) union (select 2)
select * from products order by price desc nulls last, name using < limit 5 offset 2
select * from products order by id fetch first 5 rows with ties
select * from products order by id fetch next 2 rows only
select distinct on (name) * from products order by name, id
select name, count(*) from products group by rollup (name), cube(id)
select name from products group by distinct name
select * from products tablesample system (10) repeatable (1)
select cast(1 as text), 1::numeric(10,2), '1'::int4, int '5', interval '1' hour
select 'a'::"char", 'b'::bpchar, timestamp with time zone '2024-01-01'
select true and not false or null is unknown
select case id when 1 then 'a' else 'b' end from products
select coalesce(a.name, 'x'), nullif(a.id, 1), greatest(1,2), least(1,2) from products a
select id from products where id in (1,2,3) and name not in ('a')
select id from products where (id, name) in (select id, title from todos)
select id from products where price > all (select price from products)
select id from products p where exists (select 1 from todos t where t.id = p.id)
select id from products where price between symmetric 1 and 2
select name collate "C" from products
select price at time zone 'utc' from (select now() price) x
select (now()) at local
select $1, $2::int
select * from products where id = $1
select 1 as "select", 2 as "from"
select "name" from "public"."products"
select U&"n\0061me" from products
select U&'\0041' || E'\x41'
select $$x$$ || $tag$ ; drop table products; $tag$
select '/* not a comment */' || '-- neither'
select 1 /* a /* nested */ comment */ -- end
select B'101', X'1F', 0x1F, 0b11, 0o17, 1_000_000, 1.5e10
select N'a'
select 'it''s', E'it\'s'
explain select * from products
explain (analyze false, costs, verbose off, format json) select 1
explain verbose select * from products
explain (settings, buffers false) select 1
explain insert into products values (1,'a')
explain update products set name = 'x'
explain delete from products
explain (format yaml) with a as (select 1) select * from a
show server_version
show timezone
show search_path
show transaction isolation level
show standard_conforming_strings
select current_setting('timezone')
select pg_typeof(1), pg_size_pretty(1024::bigint), pg_column_size(p) from products p
select format_type(23, null), to_regclass('products')
select 'products'::regclass::text
select pg_get_serial_sequence('products', 'id'), pg_get_userbyid(10)
select gen_random_uuid(), random(), clock_timestamp(), statement_timestamp(), transaction_timestamp()
select md5('a'), sha256('a'), encode('a', 'hex'), decode('aa','hex'), digest_x from products
select regexp_replace('a','b','c','g'), regexp_match('a','b'), regexp_split_to_array('a b',' ')
select split_part('a,b', ',', 1), string_to_array('a,b', ','), array_to_string(array[1,2], ',')
select to_tsvector('english', 'a b') @@ plainto_tsquery('a'), ts_rank(to_tsvector('a'), to_tsquery('a')), ts_headline('a', to_tsquery('a'))
select point(1,2) <-> point(3,4), box '((1,1),(2,2))' && box '((0,0),(1,1))'
select int4range(1,5) * int4range(2,7), upper(int4range(1,2)), range_agg(int4range(1,2))
select '192.168.0.1'::inet << '192.168.0.0/24'::cidr, host('1.2.3.4'::inet)
select width_bucket(5, 0, 10, 5), ceil(1.5), round(1.234, 2), mod(5, 3), power(2, 3), 5 % 3, 2 ^ 3, |/ 4, @ -1
select age('2024-01-01'::date), make_date(2024,1,1), justify_interval('25 hours')
select corr(price, id), regr_slope(price, id), stddev(price), var_pop(price), bit_and(id), every(true) from products
select lower(name), upper(name), initcap(name), length(name), left(name, 1), lpad(name, 5), repeat('a', 5), reverse(name), translate(name,'a','b') from products
select concat(name, 1), concat_ws(',', name, id), format('%s %I', name, name), quote_literal(name), quote_ident(name) from products
select * from information_schema.tables where table_schema = 'public'
select t.* from (select relname, relkind from pg_class) as t
select * from (select relname, relkind from pg_class) as t
with t as (select * from (select proname from pg_proc) x) select t.*, x.id from t, products x
select p.*, c.relname from products p join pg_class c on c.relname = 'products'
select n.nspname, c.relname, count(*) as n_columns from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid where a.attnum > 0 group by 1, 2 order by n_columns desc
select j.proname from (pg_proc p cross join products q) as j
select conname, contype from pg_constraint where conrelid = 'public.products'::regclass
select table_name, constraint_name from information_schema.table_constraints join information_schema.key_column_usage using (constraint_name, table_name)
select t.typname, e.enumlabel from pg_type t join pg_enum e on e.enumtypid = t.oid order by e.enumsortorder
select proname, pronargs, prorettype::regtype from pg_proc where pronamespace = 'public'::regnamespace
select tgname, tgrelid::regclass, tgenabled from pg_trigger where not tgisinternal
select trigger_name, event_manipulation, action_timing from information_schema.triggers
select i.indexrelid::regclass, i.indisunique, a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
select * from information_schema.tables as t where exists (select 1 from information_schema.columns c where c.table_name = t.table_name)
select * from pg_timezone_names
select (select count(*) from products) as a, (select max(price) from products) as b
select t.x[1], t.y.z from (select array[1] x, null::products y) t
select (p).name from products p
select p from products p
select row_to_json(p), to_jsonb(p), p::text from products p
select id, name from products where name is not null and price is not distinct from 1
select lateral_x.* from products lateral_x
select * from (values (1,'a')) as v(id, name) join products p using (id)
select * from (select * from products) sub(a, b, c)
select * from products as p(a, b)
select 1 where false
select
select from products
select all id from products
select products.id, public.products.name from public.products
with products as (select 1 as id) select * from products
select jsonb_agg(distinct name order by name) from products
select array(select id from products)
select grouping(name) from products group by rollup(name)
select date_part('dow', now()), date_bin('15 min', now(), '2001-01-01'), isfinite(now())
select enum_range(null::mood_x)
select string_agg(distinct name, ',') from products having count(*) > 1
select id from products where name like '%' || $1 || '%' and id > coalesce($2, 0)
select * from todos where user_id = auth.uid() and done is false
select sum(price)::money from products
select pg_column_size(p) from products p
select tableoid::regclass from products
select int8 '5', numeric '1.5', bool 't', bit varying '1'
select * from products where (price, id) >= (1, 2) order by 1 desc, 2 asc
select 1 operator(pg_catalog.+) 2
`;

/** Data changes at any depth. */
export const WRITES: readonly string[] = [
  ...lines`
insert into products values (1, 'a', 2)
insert into products default values
insert into products (id, name) select id, title from todos
insert into products (id) overriding system value values (1)
insert into products as p values (1,'a') on conflict do nothing
insert into products values (1,'a') on conflict (id) do update set name = excluded.name where products.id > 0
insert into products values (1,'a') on conflict on constraint products_pkey do nothing returning *
insert into products values (default, default)
update products set name = 'x'
update only products p set (name, price) = ('a', 1) from todos t where t.id = p.id
update products set (name, price) = (select 'a', 1) where id = 1
update products set price = price + 1 where id in (select id from todos) returning id
delete from products
delete from only products p using todos t where t.id = p.id returning p.*
merge into products p using todos t on p.id = t.id when matched then update set name = t.title when not matched then insert (id, name) values (t.id, t.title)
merge into products p using todos t on p.id = t.id when matched then delete
merge into products p using todos t on p.id = t.id when not matched by source then delete
merge into products p using todos t on false when not matched then insert values (1, 'a', 2) returning merge_action(), p.*
merge into products p using todos t on p.id = t.id when matched then do nothing
with a as (delete from products returning *) select * from a
with a as (insert into products values (1) returning id) select count(*) from a
with a as (update products set name = 'x' returning *) insert into todos (title) select name from a
with a as (select 1), b as (delete from todos returning id) select * from a, b
with a as (delete from products) select 1
with a as (with b as (delete from products returning *) select * from b) select * from a
with a as (merge into products p using todos t on p.id=t.id when matched then delete returning p.id) select * from a
select nextval('seq1')
select id, nextval('public.seq1'::regclass) from products
select * from nextval('seq1') n
values (nextval('seq1'))
select (select nextval('seq1'))
select 1 from products order by nextval('seq1')
with a as (select nextval('seq1') x) select * from a
select case when true then nextval('seq1') end
select pg_catalog.nextval('seq1')
select pg_catalog."nextval"('seq1')
explain analyze insert into products values (1)
explain (analyze) update products set name = 'x'
explain (analyze true, verbose) delete from products
explain (analyze on) delete from products
explain (analyze 1) delete from products
explain (verbose, analyze) with a as (delete from products returning *) select * from a
explain analyze select nextval('seq1')
explain (analyze false, analyze true) delete from products
explain (analyze 'true') delete from products
explain (ANALYZE) merge into products p using todos t on p.id=t.id when matched then delete
INSERT INTO "products" VALUES (1)
insert into products values ($1, $2)
update products set name = $1 where id = $2
update public.products set name = default
delete from products where id = any($1)
insert into products (id, name) values (1, $$a$$), (2, E'b')
insert into todos (title) table products
insert into todos (title) values ('a') returning (select count(*) from products)
with recursive t(n) as (select 1 union all select n+1 from t where n<3) insert into products (id) select n from t
with x as (select 1) update products set price = 1 from x
with x as (select 1) delete from products using x
update products set name = (with d as (select 'a' v) select v from d)
insert into products select * from json_populate_recordset(null::products, $1)
insert into products select * from jsonb_to_recordset($1) as t(id int, name text, price numeric)
update products p set name = x.name from (values (1,'a')) as x(id,name) where p.id = x.id
delete from todos where user_id = auth.uid() and done
insert into todos (user_id, title) values (auth.uid(), 'x')
select nextval('seq1'::text)
update products set price[1] = 2
update products set name = 'a' where current_date > '2020-01-01'
`,
  "/* c */ delete -- x\n from products",
];

/** Definitions that a person may approve. */
export const DEFINITIONS = lines`
create table t1 (id int primary key, name text not null default 'x', check (id > 0), unique (name))
create table if not exists t1 (like products including all)
create table t1 (a int generated always as identity, b int generated always as (a * 2) stored)
create table t1 partition of products for values from (1) to (10)
create table t1 (a int) partition by range (a)
create table t1 as select * from products
create table t1 as select * from products with no data
create unlogged table t1 (a int)
select * into t1 from products
select id into table t1 from products
create table t1 () inherits (products)
create view v1 as select * from products
create or replace view v1 with (security_invoker = true) as select 1
create materialized view m1 as select * from products
refresh materialized view m1
refresh materialized view concurrently m1
create index on products (name)
create unique index concurrently if not exists i1 on products using btree (lower(name) desc nulls last) include (id) where id > 0
create index on products using gin (to_tsvector('english', name))
drop table products
drop table if exists products, todos cascade
drop view v1
drop index concurrently i1
drop type mood
drop sequence seq1
drop materialized view m1
drop domain d1
alter table products add column a int not null default 0
alter table products drop column name cascade
alter table products alter column name type varchar(10) using name::varchar(10)
alter table products alter column name set not null, alter column price drop default
alter table products rename column name to title
alter table products rename to goods
alter table products add constraint c check (price > 0) not valid
alter table products validate constraint c
alter table products drop constraint c
alter index i1 rename to i2
alter view v1 rename to v2
alter sequence seq1 restart with 5
create sequence s1 increment by 2
create type mood as enum ('a','b')
create type pair as (a int, b text)
create domain d1 as int check (value > 0)
alter type mood add value 'c' after 'a'
alter type mood rename value 'a' to 'z'
comment on table products is 'x'
comment on column products.name is null
create schema s1
create statistics st1 on name, price from products
explain analyze create table t1 as select 1
explain create table t1 as select 1
alter table products set schema public
alter table products inherit x
drop schema public cascade
create temp table x (a int)
create temporary view v as select 1
select * into temp x from products
alter sequence seq1 owned by products.id
alter schema public rename to x
alter table products attach partition x for values in (1)
create table x (a int) using heap2
create table x (a int) tablespace t
create table x of pair
create recursive view v (n) as select 1
alter table products set (autovacuum_enabled = off)
`;

/** Relations that nobody reads. */
const FORBIDDEN_RELATIONS = pieces`
auth.users; vault.secrets; vault.decrypted_secrets; storage.objects; cron.job; net._http_response;
pgmq.q_x; private.sql_policy; supabase_migrations.schema_migrations; realtime.messages;
extensions.pg_stat_statements; pg_authid; pg_catalog.pg_authid; pg_shadow; pg_user; pg_roles;
pg_settings; pg_file_settings; pg_hba_file_rules; pg_stat_activity; pg_locks; pg_stats;
pg_statistic; pg_largeobject; pg_db_role_setting; pg_user_mappings; pg_foreign_server;
pg_subscription; pg_cursors; pg_prepared_statements; pg_replication_slots;
pg_backend_memory_contexts; pg_config; information_schema.user_mapping_options;
information_schema.foreign_server_options; otherdb.public.products; pg_stat_replication;
pg_publication_tables; pg_stat_user_tables; pg_stat_user_indexes; pg_description; pg_seclabels;
information_schema.column_options; information_schema.foreign_tables; pg_shmem_allocations; pg_ident_file_mappings;
information_schema._pg_user_mappings; pg_toast.pg_toast_1; pg_temp_1.x
`;

/** Ways to columns of catalogs in which a project may have written a secret. */
const HIDDEN_COLUMNS = lines`
select tgargs from pg_trigger
select t.tgargs from pg_trigger t
select pg_trigger.tgargs from pg_trigger
select pg_catalog.pg_trigger.tgargs from pg_catalog.pg_trigger
select action_statement from information_schema.triggers
select "prosrc" from pg_proc
select PROSRC from PG_CATALOG.PG_PROC
select U&"pro\0073rc" from pg_proc
select * from pg_proc
table pg_proc
table pg_catalog.pg_trigger
select p.* from pg_proc p
select pg_proc.* from pg_proc
select pg_catalog.pg_proc.* from pg_catalog.pg_proc
select p from pg_proc p
select pg_proc from pg_proc
select p::text from pg_proc p
select (p).prosrc from pg_proc p
select (p.*)::text from pg_proc p
select ((select p from pg_proc p limit 1)).prosrc
select row(p.*) from pg_proc p
select row_to_json(p) from pg_proc p
select to_jsonb(pg_proc) -> 'prosrc' from pg_proc
select jsonb_agg(p) from pg_proc p
select count(distinct p) from pg_proc p
select string_agg(p::text, '') from pg_proc as p
select format('%s', p) from pg_proc p
select p.to_jsonb from pg_proc p
select p.row_to_json from pg_proc p
select p.format from pg_proc p
select p is null from pg_proc p
select 1 from pg_proc p where p > row(1)
select 1 from pg_proc order by prosrc
select 1 from pg_proc where prosrc like '%key%'
select count(*) filter (where prosrc like '%key%') from pg_proc
select 1 from pg_proc group by prosrc
select rank() over (order by prosrc) from pg_proc
select 1 from pg_proc join products on prosrc = name
select 1 from products where exists (select 1 from pg_proc where prosrc = products.name)
select 1 from pg_proc natural join (values ('x')) as v(prosrc)
select 1 from pg_proc natural join (select name as prosrc from products) v
select 1 from pg_proc join (select name as prosrc from products) v using (prosrc)
select b from pg_proc as p(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
select j.x from (pg_proc p cross join products q) as j(x)
select j from (pg_proc p cross join products q) as j
select j.* from (pg_proc p cross join products q) as j
select j.prosrc from (pg_proc p cross join products q) as j
select j.to_jsonb from (pg_proc p cross join products q) as j
select * from pg_proc p join products on true
select * from products join (pg_proc p cross join todos) on true
select * from products, lateral (select * from pg_proc) x
select x.b from (select * from pg_proc) as x(a, b)
with x(a, b) as (table pg_proc) select b from x
with pg_proc as (select 1 as n) select prosrc from pg_proc
with a as (with pg_proc as (select 1) select 1) select prosrc from pg_proc, a
select (select prosrc from pg_proc limit 1)
select array(select p from pg_proc p)
select 1 union select 2 from (select prosrc from pg_proc) x
insert into products (id, name) select 1, prosrc from pg_proc
insert into products table pg_proc
update products set name = prosrc from pg_proc
update products set id = 1 from pg_proc returning *
delete from products using pg_proc p returning p
merge into products t using pg_proc p on p.prosrc = t.name when matched then delete
merge into products t using pg_proc p on true when matched then do nothing returning *
create view v as select * from pg_proc
create table t1 as table pg_trigger
explain select * from pg_class where relpages > 10
select * from pg_proc tablesample system (100)
select prosrc from pg_proc tablesample system (100)
select adbin from pg_attrdef
select attmissingval, attacl from pg_attribute
select column_default from information_schema.columns
select * from information_schema.columns
select conbin from pg_constraint
select check_clause from information_schema.check_constraints
select indexdef from pg_indexes
select definition from pg_views
select view_definition from information_schema.views
select qual from pg_policies
select polqual, polwithcheck from pg_policy
select typdefault from pg_type
select proargdefaults, proconfig from pg_proc
select reltuples, relpages from pg_class
select xmin from pg_class
select last_value from pg_sequences
select ev_action from pg_rewrite
`;

/** Rights that row level security does not limit. */
const UNLIMITED_RIGHTS = lines`
truncate products
truncate table only products, todos restart identity cascade
truncate public.products
create table t1 (a int references products)
create table t1 (a int references products (id) on delete cascade)
create table t1 (a int, foreign key (a) references products (id))
create table t1 (a int constraint k references products deferrable)
create temp table t1 (a int references products)
create schema s1 create table t1 (a int references products)
alter table products add foreign key (id) references todos (id)
alter table products add constraint k foreign key (id) references todos (id) not valid
alter table products add column b int references todos (id)
create trigger t after delete on products for each row execute function f()
create constraint trigger t after insert on products for each row execute function f()
create rule r as on select to products do instead select 1
create policy p on products using (true)
lock products
lock table products in access share mode
with a as (select 1) select * from products for key share
vacuum products
analyze products
cluster products using i
reindex table products
`;

/** Work that no timeout would interrupt. */
const UNINTERRUPTED = [
  ...lines`
select xmlparse(content '<a/>')
select '<a/>'::xml
select cast('<a/>' as pg_catalog.xml)
select xml '<a/>'
select '{<a/>}'::xml[]
select xmlelement(name a) is document
select xmlserialize(content xmlelement(name a) as text indent)
select xpath('/a', xmlelement(name a))
select xpath_exists('/a', xmlelement(name a))
select xmlexists('/a' passing xmlelement(name a))
select xml_is_well_formed('<a/>')
select * from xmltable('/a' passing xmlelement(name a) columns b text path '@b')
select '((0,0),(1,1))'::path <-> '((0,0),(1,1))'::path
select path '((0,0),(1,1))'
select polygon(8, '<(0,0),1>'::circle) && polygon '((0,0),(1,1))'
select pclose(name) from products
select poly_overlap($1, $2), dist_pathp($1, $2)
select polygon(box '((0,0),(1,1))')
select (1e60000::numeric - 1) * (1e60000::numeric - 1)
select repeat('9', 20000)::numeric * 2
select (9::numeric ^ 60000) * 3
select power(9.0, 60000), exp(100000::numeric)
select factorial(20000)
select sqrt(1e60000)
select repeat(a, 10000) from (select repeat(b, 10000) as a from (select 'x' as b) y) x
with a as (select repeat('x', 40000) v), b as (select v || v v from a) select v || v from b
select x from (values (repeat('x', 40000))) v(x), lateral (select x || x y) w
select f || f from repeat('x', 40000) as f
select repeat('x', n) from (select 1000000000 as n) q
select repeat('x', n) from (values (100000)) q(n)
with a as (select 10000 as n), b as (select n * n as n from a) select repeat('x', n) from b
select lpad('x', n * 1000000) from (select 1000 as n) q
select repeat('x', $1)
select (9::numeric ^ (pi() * 30000)::numeric) * 2
select format('%1000000s', 'x')
select format('%*s', 100000000, 'x')
select 'x'::char(10000000)
select 1::bit(8000000)
select array_to_string(array_fill('x'::text, array[1000]), repeat('y', 1000))
`,
  `select ${Array(201).fill("1.1").join(" * ")}, 1.1 * 1.1`,
  `select array[${Array(2_001).fill("1 + 1").join(", ")}]`,
  `select ${"row(".repeat(14)}'"'${")".repeat(14)}::text`,
  `select ${"(".repeat(14)}'x'::text${").quote_literal".repeat(14)}`,
  `select ${"quote_literal(".repeat(14)}''''${")".repeat(14)}`,
];

/** Sessions, locks, files, roles, code, catalogs and foreign schemas. */
export const FORBIDDEN: readonly string[] = [
  ...lines`
select ctid from products
select p.ctid, xmin from products p
select (p).ctid from products p
select ((p)).xmin, (p).id from products p
delete from products p where (p).ctid < '(3,1)'
select id from products where products.ctid > '(3,1)'
select id from products order by "ctid"
delete from products where ctid not in (select min(ctid) from products group by name)
insert into products (id) values (1) returning ctid
`,
  ...HIDDEN_COLUMNS,
  ...UNINTERRUPTED,
  ...UNLIMITED_RIGHTS,
  ...pieces`
begin; start transaction; commit; end; rollback; abort; rollback to savepoint a; savepoint a;
release savepoint a; prepare transaction 'x'; commit prepared 'x'; rollback prepared 'x';
commit and chain; set role postgres; set local role service_role; reset role; reset all;
reset session authorization; set statement_timeout = 0; set search_path to auth;
set transaction read write; set constraints all deferred; set request.jwt.claims = '{}';
set time zone 'utc'; set names 'utf8'; discard all; discard plans; discard temp; show all;
show "request.jwt.claims"; show app.settings.jwt_secret; show data_directory; show hba_file;
show is_superuser_x; lock table products; lock products in share mode; listen a; notify a, 'b';
unlisten *; prepare p as select 1; execute p; execute p(1); deallocate all;
declare c cursor for select 1; fetch all from c; move next in c; close c;
do language plpgsql 'begin end'; call my_proc(); call pg_catalog.my_proc(1);
copy products to stdout; copy products from stdin; copy products to '/tmp/x';
copy products from program 'id'; copy (select 1) to program 'id'; vacuum; vacuum full products;
vacuum (analyze) products; analyze; analyze products; cluster products using i1;
reindex table products; reindex database postgres; checkpoint; load 'x'; create extension dblink;
drop extension pgcrypto; alter extension x update; create role x; create user x superuser;
alter role postgres password 'x'; alter user x createrole; drop role x; drop owned by x;
reassign owned by x to y; grant select on products to anon; grant postgres to authenticated;
revoke all on products from anon; drop function f; drop procedure p; drop routine r;
drop trigger t on products; drop rule r on products; drop policy p on products; drop publication p;
create foreign data wrapper w; alter system set x = 1; create database x; drop database x;
create language l; drop schema s1; drop policy p on todos; select * from products for share;
delete from auth.users; drop table auth.users; truncate auth.users; create table auth.x (a int);
create table pg_temp.x (a int); select 1 operator(public.+) 2; explain execute p;
alter view v1 owner to postgres; alter domain d1 owner to x; comment on role postgres is 'x';
comment on function f() is 'x'; values (pg_read_file('x')); select repeat('x', 1000000000);
select lpad('x', 2000000000); drop index auth.i; refresh materialized view auth.m
`,
  ...lines`
do $$ begin perform 1; end $$
begin isolation level serializable read write
set session authorization postgres
set local statement_timeout to default
set session characteristics as transaction read write
lock table products in access exclusive mode nowait
copy (delete from products returning *) to stdout
copy products (id) from '/etc/passwd' with (format csv)
alter role authenticated set statement_timeout = 0
alter default privileges grant select on tables to anon
create function f() returns int language sql as 'select 1'
create or replace function f() returns int language plpgsql security definer as $$ begin return 1; end $$
create procedure p() language sql as ''
alter function f() owner to postgres
alter function f() security definer
create trigger t before insert on products for each row execute function f()
create event trigger e on ddl_command_start execute function f()
create rule r as on select to products do instead select 1
create policy p on products using (true)
alter policy p on products using (true)
alter table products disable row level security
alter table products enable row level security
alter table products force row level security
alter table products no force row level security
alter table products owner to postgres
alter table products disable trigger all
alter table products enable replica trigger t
alter table products replica identity full
create publication p for all tables
create subscription s connection 'x' publication p
create server s foreign data wrapper postgres_fdw
create user mapping for current_user server s
create foreign table f (a int) server s
import foreign schema public from server s into public
create tablespace t location '/tmp'
alter database postgres set x = 1
create operator === (function = f, leftarg = int, rightarg = int)
create aggregate a (int) (sfunc = int4pl, stype = int)
create cast (text as int) with inout as implicit
create collation c (locale = 'x')
create conversion c for 'utf8' to 'latin1' from f
create text search configuration t (copy = english)
create text search dictionary d (template = simple)
create access method m type index handler h
create operator class c for type int using btree as operator 1 <
create transform for int language sql (from sql with function f(internal))
security label on table products is 'x'
select * from products for update
select * from products for no key update of products nowait
select * from products for key share skip locked
select * from (select * from products for update) x
with a as (select * from products for update) select * from a
explain select * from products for update
select 1 from auth.users u where u.id is not null
select (select encrypted_password from auth.users limit 1)
insert into auth.users (id) values (gen_random_uuid())
update storage.buckets set public = true
create view public.v as select * from auth.users
create view v as select * from vault.decrypted_secrets
create table pg_catalog.x (a int)
select pg_catalog.set_config('a','b',true)
select "set_config"('a','b',true)
explain analyze select pg_sleep(1)
explain declare c cursor for select 1
alter type mood owner to postgres
alter sequence seq1 owner to postgres
alter schema public owner to postgres
comment on database postgres is 'x'
comment on extension pgcrypto is 'x'
comment on policy p on products is 'x'
select * from products where id = (select 1 from pg_authid limit 1)
with a as (select * from pg_shadow) select 1
insert into products select 1, passwd from pg_shadow
insert into products values (1, current_setting('app.settings.jwt_secret'))
select * from pg_largeobject_metadata l join products p on true
select lo_get(loid) from pg_largeobject
select * from dblink('host=x','select 1') as t(a int)
alter table all in tablespace pg_default set tablespace x
alter table products set tablespace x
alter materialized view m1 owner to x
create unique index i on auth.users (email)
alter table auth.users add column x int
comment on table auth.users is 'x'
select set_masklen_x from pg_stat_ssl
`,
  ...FORBIDDEN_RELATIONS.map((name) => `select * from ${name}`),
];

/** More than one statement, however the semicolon is hidden. */
export const SEVERAL: readonly string[] = [
  ...lines`
select 1; select 2
select 1;select 2;
;select 1; ; select 2
select 1; commit; drop table products
select 1 /* ; */ ; select 2
select ';'; select 2
select $$;$$; delete from products
select E'\';'; drop table products
begin; select 1; commit
insert into products values (1); select 1
explain select 1; delete from products
select "a;b" from products; select 1
select '\'; drop table products; --'
`,
  "select 1; -- c\nselect 2",
  "select 1;\n\ndrop table products",
];

/** Text that the grammar refuses, or that is not a statement. */
export const INVALID: readonly string[] = [
  ...lines`
select from where
selec 1
select 1 from
select (1
select 'a
select "a
select $$a
select /* a
insert products values (1)
update products
delete products
select * form products
select 1 +
select * from products where
select * from products order
with a as select 1
values
select 1 2 3 4 5 from
create table
alter table
drop
foo bar
12345
'text'
;
;;;
-- only a comment
/* only */
select * from products limit
select top 5 * from products
select * from products limit 5, 10
select ifnull( from x
select a from b group
select [id] from products
select * from products p join on true
insert into products values
update products set
merge into products
explain
show
select case when 1 then
select array[1
select 1::
select u&'\zzzz'
select * from ()
select count(*) over from products
select 'a' || from products
`,
  "select `id` from products",
];

/** Calls that no statement may make, or of functions that nobody allowed. */
export const CALLS = pieces`
pg_sleep(1); pg_sleep_for('1 s'); pg_sleep_until(now()); set_config('role','postgres',true);
set_config('request.jwt.claims','{}',false); current_setting('app.settings.jwt_secret');
current_setting('request.jwt.claims', true); current_setting('a' || 'b');
pg_read_file('/etc/passwd'); pg_read_binary_file('/etc/passwd'); pg_ls_dir('/'); pg_ls_logdir();
pg_ls_waldir(); pg_ls_tmpdir(); pg_stat_file('/etc/passwd'); pg_current_logfile();
lo_import('/etc/passwd'); lo_export(1,'/tmp/x'); lo_create(0); lo_creat(-1); lo_unlink(1);
lo_put(1,0,'x'); lo_get(1); lo_from_bytea(0,'x'); lo_open(1,131072); loread(1,10); lowrite(1,'x');
dblink('a','b'); dblink_exec('a','b'); dblink_connect('a'); pg_notify('a','b');
pg_advisory_lock(1); pg_try_advisory_lock(1); pg_advisory_xact_lock(1); pg_advisory_unlock_all();
pg_terminate_backend(1); pg_cancel_backend(1); pg_reload_conf(); pg_rotate_logfile();
pg_switch_wal(); pg_promote(); pg_create_restore_point('x'); pg_backup_start('x');
pg_export_snapshot(); pg_logical_emit_message(true,'a','b');
pg_create_logical_replication_slot('a','b'); pg_drop_replication_slot('a');
pg_logical_slot_get_changes('a',null,null); pg_replication_origin_create('a'); pg_stat_reset();
pg_stat_get_activity(null); pg_stat_statements_reset(); query_to_xml('select 1',true,true,'');
table_to_xml('pg_authid',true,true,''); cursor_to_xml('c',1,true,true,'');
schema_to_xml('public',true,true,''); database_to_xml(true,true,'');
query_to_xmlschema('select 1',true,true,''); table_to_xml_and_xmlschema('t',true,true,'');
ts_stat('select 1'); ts_rewrite('a'::tsquery,'select 1'); crosstab('select 1');
xpath_table('a','b','c','d','e'); setval('seq1',1); txid_current(); pg_current_xact_id();
http_get('http://x'); net.http_post('http://x'); cron.schedule('a','b','c');
vault.create_secret('x'); extensions.pgp_sym_decrypt('a','b'); pgsodium.crypto_secretbox_keygen();
auth.admin(); storage.search('a','b'); graphql.resolve('x'); graphql_public.graphql('x');
pgmq.send('a','{}'); private.read_sql_policy(); public.my_function(); my_function(1);
pg_get_functiondef(1); pg_get_triggerdef(1); pg_get_viewdef(1); pg_get_ruledef(1);
pg_get_expr('a', 1); pg_get_constraintdef(1); pg_get_indexdef(1); pg_get_function_sqlbody(1);
pg_get_function_arguments(1); pg_get_function_arg_default(1, 1); pg_get_partkeydef(1);
pg_get_statisticsobjdef(1); obj_description(1, 'pg_class'); col_description(1, 1);
shobj_description(1, 'pg_database'); pg_relation_size('t'); pg_table_size('t');
pg_total_relation_size('t'); pg_indexes_size('t'); pg_database_size('d'); inet_server_addr(); inet_client_addr();
version_secret(); pg_ls_archive_statusdir(); pg_show_all_settings(); pg_hba_file_rules();
pg_config(); pg_lock_status(); pg_prepared_statement(); pg_cursor(); pg_control_system();
pg_import_system_collations('public'); pg_extension_config_dump('a','b');
pg_file_write('a','b',false); pg_logdir_ls(); binary_upgrade_set_next_pg_type_oid(1);
pg_nextoid('a','b','c'); brin_summarize_new_values('i'); gin_clean_pending_list('i');
pg_prewarm('t'); pg_stat_get_wal_senders(); pg_event_trigger_dropped_objects();
has_table_privilege_x('t','select'); plpgsql_call_handler(); currval('seq1'); lastval();
pg_relation_filepath('t'); pg_filenode_relation(0,1); pg_get_shmem_allocations();
pg_safe_snapshot_blocking_pids(1); pg_blocking_pids(1); pg_conf_load_time_x();
pg_wal_replay_pause(); copy_from('a'); regexp_exec('a')
`;

/** The positions of a call, written `{}`. */
export const PLACES = lines`
select {}
select 1 + ({})::text::int
select (({}))
select * from {}
select * from {} as t(a)
select * from lateral {} as t
select * from rows from ({}, generate_series(1,2)) as t
select * from rows from ({} as (a int, b text)) as t
select * from products p, lateral (select {} from todos) x
select * from products p left join lateral {} f on true
values ({})
values (1), ({}::text::int)
select case when {} is null then 1 end
select coalesce(null, {})
select array[{}]
select row({}, 1)
select (select {})
select exists (select {} from products)
select 1 where {} is not null
select 1 from products where id in (select {}::text::int)
select 1 from products where id = any(array[{}::text::int])
select count(*) filter (where {} is null) from products
select sum(1) over (partition by {}) from products
select sum(1) over w from products window w as (order by {})
select id from products group by id having {} is null
select id from products order by {}
select id from products limit ({})::text::int
select id from products offset ({})::text::int
select distinct on ({}) id from products
with a as (select {} x) select * from a
with recursive a(n) as (select 1 union all select n+1 from a where {} is null) select * from a
select 1 union select {}::text::int
explain select {}
explain (costs off) select {}
select * from products tablesample bernoulli (({})::text::int)
select xmlelement(name a, {})
select json_build_object('a', {})
select json_object('a': {})
select greatest(1, {}::text::int)
select {} || 'x' collate "C"
select string_agg(name, {}::text order by {}) from products
select percentile_cont(0.5) within group (order by {}::text::float) from products
select '1' = {}::text
select {} is distinct from null
select {} between 1 and 2
select x.y from (values ({})) as x(y)
select * from json_table({}::text::jsonb, '$' columns (a int path '$.a')) t
table products union select {}, '', 1
select 1 from products p join todos t on {} is null
select id from products group by grouping sets (({}), ())
select nullif({}, null)
update products set name = {}::text where id = 1
delete from products where {} is null
insert into products values (1, {}::text)
insert into products values (1,'a') on conflict (id) do update set name = {}::text
insert into products values (1,'a') returning {}
merge into products p using todos t on p.id = t.id when matched and {} is null then delete
create view v as select {}
create table t2 as select {}
create table t3 (a text default {})
create table t4 (a text check ({} is null))
create table t5 (a text, b text generated always as ({}::text) stored)
create index on products (({}))
alter table products alter name set default {}
alter table products add check ({} is null)
`;
