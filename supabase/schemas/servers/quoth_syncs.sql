-- Syncs: runs that update a project's documents from its repository.

create table public.quoth_syncs (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references public.projects (id) on delete cascade,
  seq bigint not null generated always as identity,
  kind text not null check (kind in ('tree', 'files', 'embed')),
  reason text not null check (reason in ('push', 'files', 'request', 'head_check', 'pending_chunks')),
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed')),
  wanted_commit text,
  commit_sha text,
  epoch bigint not null default 0,
  attempts int not null default 0,
  deliveries int not null default 0,
  worker_id text,
  lease_expires_at timestamptz,
  run_after timestamptz,
  error jsonb,
  written_count int not null default 0,
  unchanged_count int not null default 0,
  moved_count int not null default 0,
  deleted_count int not null default 0,
  refused_count int not null default 0,
  embedded_count int not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  constraint quoth_syncs_lease_check check (
    (status = 'running') = (lease_expires_at is not null) and (status = 'running') = (worker_id is not null)
  ),
  constraint quoth_syncs_end_check check ((status in ('completed', 'failed')) = (finished_at is not null)),
  constraint quoth_syncs_error_check check (status <> 'failed' or error is not null)
);
revoke all on public.quoth_syncs from anon, authenticated, service_role;
revoke all on sequence public.quoth_syncs_seq_seq from anon, authenticated, service_role;
create index quoth_syncs_project_id_idx on public.quoth_syncs (project_id, seq);
create index quoth_syncs_unfinished_idx on public.quoth_syncs (project_id, seq) where finished_at is null;
create index quoth_syncs_finished_at_idx on public.quoth_syncs (finished_at) where finished_at is not null;
-- Pushes that arrive while a sync waits join it, because the head is read when the sync runs.
create unique index quoth_syncs_waiting_tree_idx on public.quoth_syncs (project_id)
  where kind = 'tree' and status = 'pending' and epoch = 0;
create unique index quoth_syncs_unfinished_embed_idx on public.quoth_syncs (project_id)
  where kind = 'embed' and finished_at is null;
comment on table public.quoth_syncs is
  'Runs that bring a project''s documents up to date. Syncs of one project run one after another, in the order of seq; embedding runs in parallel to them.';
comment on column public.quoth_syncs.seq is 'Order of creation and of execution.';
comment on column public.quoth_syncs.kind is
  'tree: compare with the branch''s head. files: apply files that were sent directly. embed: create the vectors of pending chunks.';
comment on column public.quoth_syncs.reason is 'What requested the sync.';
comment on column public.quoth_syncs.wanted_commit is 'The newest head that a push named. Only a hint: the head is read when the sync runs.';
comment on column public.quoth_syncs.commit_sha is 'The commit that is being applied; null until its tree has been compared.';
comment on column public.quoth_syncs.epoch is 'Incremented by each claim; a write with an older epoch is refused.';
comment on column public.quoth_syncs.attempts is 'Failures that were retried. Waiting for a rate limit does not count.';
comment on column public.quoth_syncs.deliveries is 'Claims since the last progress.';
comment on column public.quoth_syncs.run_after is 'The sync does not run before this time: backoff, a rate limit, a quota until its reset, or the time at which a worker returned it. The sync that has waited longest comes first.';
comment on column public.quoth_syncs.error is 'Why it failed or waits: {code, message, hint, details}.';
comment on column public.quoth_syncs.refused_count is 'Files that could not be indexed; quoth_file_errors has the reasons.';
comment on column public.quoth_syncs.embedded_count is 'Texts that were sent to the embedder.';

create table public.quoth_file_errors (
  project_id uuid not null references public.projects (id) on delete cascade,
  file_path text not null,
  blob_sha text,
  commit_sha text,
  error jsonb not null,
  failed_at timestamptz not null default clock_timestamp(),
  primary key (project_id, file_path)
);
revoke all on public.quoth_file_errors from anon, authenticated, service_role;
comment on table public.quoth_file_errors is
  'Files of the repository that could not be indexed and therefore have no document, with the reason. A row is deleted when the file can be indexed or no longer exists.';
comment on column public.quoth_file_errors.blob_sha is 'The content that failed. It is tried again when the content changes or a sync is requested; FILE_UNAVAILABLE is tried again at each comparison of the tree.';
comment on column public.quoth_file_errors.error is '{code, message, hint}.';

create table private.quoth_deliveries (
  project_id uuid not null references public.projects (id) on delete cascade,
  delivery_id text not null,
  sync_id uuid not null references public.quoth_syncs (id) on delete cascade,
  received_at timestamptz not null default clock_timestamp(),
  primary key (project_id, delivery_id)
);
create index quoth_deliveries_sync_id_idx on private.quoth_deliveries (sync_id);
comment on table private.quoth_deliveries is
  'GitHub''s ids of webhook deliveries and the sync that each led to. A repeated delivery counts only if its sync failed.';

create table private.quoth_sync_files (
  sync_id uuid not null references public.quoth_syncs (id) on delete cascade,
  seq int not null,
  action text not null check (action in ('move', 'write', 'delete')),
  file_path text not null,
  old_path text,
  blob_sha text,
  size_bytes bigint,
  content text,
  deliveries int not null default 0,
  primary key (sync_id, seq),
  check ((action = 'move') = (old_path is not null)),
  check (action = 'delete' or blob_sha is not null)
);
comment on table private.quoth_sync_files is
  'The remaining files of a sync: moves, writes, then deletions, so that a renamed and edited file finds its old chunks. A row is deleted in the transaction that applies the file.';
comment on column private.quoth_sync_files.content is 'Text that was sent directly; null: it is fetched by blob_sha.';
comment on column private.quoth_sync_files.deliveries is 'How often a worker began with the file. A file that kills workers is refused.';

alter table public.quoth_syncs enable row level security;
alter table public.quoth_file_errors enable row level security;
alter table private.quoth_deliveries enable row level security;
alter table private.quoth_sync_files enable row level security;
grant select on public.quoth_syncs, public.quoth_file_errors to authenticated, service_role;

create policy "members read syncs" on public.quoth_syncs
  for select to authenticated using (
    project_id in (select membership.project_id from public.project_members as membership where membership.user_id = (select auth.uid()))
  );
comment on policy "members read syncs" on public.quoth_syncs is
  'Members read the progress of the index and why a sync failed.';
create policy "members read file errors" on public.quoth_file_errors
  for select to authenticated using (
    project_id in (select membership.project_id from public.project_members as membership where membership.user_id = (select auth.uid()))
  );
comment on policy "members read file errors" on public.quoth_file_errors is
  'Members read which files of the repository have no document, and why.';
