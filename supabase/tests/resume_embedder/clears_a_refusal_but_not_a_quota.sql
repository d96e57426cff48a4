begin;
set local search_path = public, extensions;
select plan(6);

insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items)
values ('paused', 'google', 'm', 768, 480, 100);
insert into public.projects (id, slug, github_repo, embedder) values (md5('p')::uuid, 'p', 'acme/p', 'paused');
create function pg_temp.pause_reason()
returns text language sql as $$
  select pause_reason from private.embedding_buckets where embedder = 'paused';
$$;
select private.queue_embed_sync(md5('p')::uuid);
create temporary table sync on commit drop as select id from public.quoth_syncs where project_id = md5('p')::uuid;
select private.claim_sync('w', 60);
select private.fail_sync((select id from sync), (select epoch from public.quoth_syncs where id = (select id from sync)), '{"code": "EMBEDDER_REFUSED", "message": "no"}', true, 900);

select ok(not private.resume_embedder('paused'), 'an embedder that is not paused cannot be resumed');
select private.pause_embedder('paused', now() + interval '1 hour', 'quota_exhausted');
select ok(not private.resume_embedder('paused') and pg_temp.pause_reason() = 'quota_exhausted', 'an exhausted quota is kept');
select private.pause_embedder('paused', now() + interval '2 hours', 'refused', 'wrong key');
select ok(private.resume_embedder('paused') and pg_temp.pause_reason() is null, 'a refusal is cleared');
select is((select sync_id from private.claim_sync('w', 60)), (select id from sync), 'the waiting sync can run');

select private.pause_embedder('paused', now() + interval '2 hours', 'refused', 'wrong key');
update public.embedders set base_url = 'https://example.org' where name = 'paused';
select ok(pg_temp.pause_reason() is null, 'changing the embedder clears it too');
select private.pause_embedder('paused', now() + interval '2 hours', 'refused', 'wrong key');
select private.request_sync('p');
select ok(pg_temp.pause_reason() is null, 'requesting a sync clears it too');

select * from finish();
rollback;
