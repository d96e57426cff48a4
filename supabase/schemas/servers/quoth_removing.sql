-- Removing a project, by the command quoth:remove.

create function private.delete_project(p_project text)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_project public.projects := private.find_project(p_project);
  v_removed jsonb;
begin
  -- A running sync finishes its current file; after that it finds no project and ends.
  perform private.hold_project(v_project.id);
  v_removed := jsonb_build_object(
    'project_id', v_project.id,
    'slug', v_project.slug,
    'document_count', (select count(*) from public.documents where project_id = v_project.id),
    'chunk_count', (select count(*) from public.document_embeddings where project_id = v_project.id),
    'member_count', (select count(*) from public.project_members where project_id = v_project.id)
  );
  delete from public.projects where id = v_project.id;
  return v_removed;
end;
$$;
comment on function private.delete_project(text) is
  'Deletes the project with that slug or id, everything that belongs to it and its secrets in Vault. Returns what was deleted. Raises PROJECT_NOT_FOUND. Called by quoth:remove, and when an operator removes the project.';
