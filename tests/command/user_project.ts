import { join } from "node:path";

/** Files of a Supabase project whose names clash with the platform's. */
const FILES: Readonly<Record<string, string>> = {
  ".gitignore": "node_modules\nsupabase/.temp\nsupabase/.branches\n",
  "package.json": '{ "name": "shop", "private": true }\n',
  "deno.json": '{ "imports": {} }\n',
  "supabase/config.toml": `# The shop's settings.
project_id = "shop"

[api]
enabled = true
# What the pages read.
schemas = ["public", "graphql_public"]
max_rows = 1000 # enough

[functions.mcp]
verify_jwt = true
`,
  "supabase/migrations/20261115000000_shop.sql": `create schema private;
create table private.settings (mine text);
create table public.tasks (id bigint generated always as identity primary key, title text);
alter table public.tasks enable row level security;
create policy readable on public.tasks for select to anon, authenticated using (true);
grant select on public.tasks to anon, authenticated;
insert into public.tasks (title) values ('Water the plants');
create table public.projects (id int);
create table public.documents (id int);
create function public.cancel_task(task_id bigint) returns text language sql as $$ select 'mine' $$;
`,
  "supabase/seed.sql": "insert into private.settings values ('development only');\n",
  "supabase/functions/mcp/index.ts": 'Deno.serve(() => new Response("the shop\'s own"));\n',
};

/** A project in a git repository, which is deleted at the end of its scope. */
export interface UserProject extends AsyncDisposable {
  readonly root: string;
  /** Runs a program in the project's folder. */
  run(program: string, ...args: string[]): Promise<ProgramResult>;
  write(path: string, text: string): Promise<void>;
  /** Commits everything. */
  commit(): Promise<void>;
}

/** What a program did. */
export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Creates the project with these files, committed. @default a project whose names clash */
export async function createUserProject(files = FILES): Promise<UserProject> {
  const root = await Deno.makeTempDir({ prefix: "supaswarm-user-" });
  const run = (program: string, ...args: string[]) => runProgram(root, program, args);
  const write = async (path: string, text: string) => {
    await Deno.mkdir(join(root, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  };
  const commit = async () => {
    await run("git", "add", "--all");
    await run("git", "commit", "--quiet", "--allow-empty", "--message", "Save");
  };
  await run("git", "init", "--quiet");
  await run("git", "config", "user.email", "shop@example.test");
  await run("git", "config", "user.name", "Shop");
  for (const [path, text] of Object.entries(files)) await write(path, text);
  await commit();
  return {
    root,
    run,
    write,
    commit,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

async function runProgram(cwd: string, program: string, args: string[]): Promise<ProgramResult> {
  const output = await new Deno.Command(program, { args, cwd, stdin: "null" }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: output.code, stdout: decode(output.stdout), stderr: decode(output.stderr) };
}
