begin;
set local search_path = public, extensions;
select plan(2);
select tests.create_user('runner');

select results_eq(
  $$select run.agent_slug, run.agent_revision, run.provider, run.model, run.created_by
    from private.begin_eval_run(p_agent => 'writer', p_user_id => tests.user_id('runner')) as run$$,
  $$select agent.slug, agent.revision, provider.name, coalesce(agent.model, provider.default_model), tests.user_id('runner')
    from public.agents as agent join public.llm_providers as provider on provider.id = agent.provider_id
    where agent.slug = 'writer'$$,
  'a run keeps the agent''s revision, provider and model as they are'
);
select throws_ok(
  $$select private.begin_eval_run(p_agent => 'wrier', p_user_id => tests.user_id('runner'))$$,
  'PT404', 'Cannot run the evals of "wrier": there is no agent "wrier"', 'an agent that does not exist has no run'
);

select finish();
rollback;
