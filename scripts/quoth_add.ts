import { resolve } from "node:path";
import type { Sql } from "../shared/platform/db/sql_client.ts";
import { webUrlOf } from "../shared/servers/quoth/github/github_url.ts";
import { createPathFilter, findGlobProblem } from "../shared/servers/quoth/sync/path_filter.ts";
import { CommandError, runCommand } from "./cli/run_command.ts";
import { DATABASE_OPTION, findDatabaseUrl } from "./cli/find_database.ts";
import { usePlatform } from "./cli/use_database.ts";
import { PROJECT_ROOT } from "./project_root.ts";
import { type AddedProject, addProject } from "./quoth/add_project.ts";
import { readFolder } from "./quoth/read_folder.ts";
import { syncFolder } from "./quoth/sync_folder.ts";
import { type Environment, readEnvironment } from "../stack/stack_environment.ts";
import { writeLine } from "./terminal.ts";

const REPO = /^(?!\.{1,2}\/)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/;
const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const TOKENS = {
  own: "the project's, in Vault",
  default: "GITHUB_TOKEN of Vault",
  none: "none, which public repositories do not need",
};

await runCommand({
  name: "deno task quoth:add",
  summary:
    "Adds or changes a project: a repository or a folder with Markdown files. Safe to repeat.",
  options: {
    slug: {
      type: "string",
      placeholder: "NAME",
      help: "Name of the project, such as my-docs.",
    },
    repo: { type: "string", placeholder: "OWNER/NAME", help: "The repository on GitHub." },
    folder: {
      type: "string",
      placeholder: "PATH",
      help: "A local folder instead. Run the command again to index changes.",
    },
    branch: { type: "string", placeholder: "NAME", help: "The branch to follow. Default main." },
    globs: {
      type: "string",
      placeholder: "LIST",
      help: "Globs of documents, separated by commas; !… excludes. Default **/*.md,**/*.mdx.",
    },
    language: {
      type: "string",
      placeholder: "NAME",
      help: "Text-search configuration of Postgres. Default english.",
    },
    embedder: {
      type: "string",
      placeholder: "NAME",
      help: "A name from the table embedders. A different one than before starts a switch.",
    },
    member: {
      type: "string",
      placeholder: "LIST",
      help: "Emails or ids of users who may read it, separated by commas.",
    },
    "token-env": {
      type: "string",
      placeholder: "VARIABLE",
      help:
        "Variable in the environment or .env with a token for this repository; stored in Vault.",
    },
    "no-sync": { type: "boolean", help: "Add or change the project without a sync." },
    url: {
      type: "string",
      placeholder: "URL",
      help: "Address of the Supabase project. Default: the one stored in the database.",
    },
    db: DATABASE_OPTION,
    json: { type: "boolean", help: "Print the result as one line of JSON." },
  },
}, async ({ values }) => {
  const { slug, repo, folder } = values;
  if (slug === undefined || !SLUG.test(slug)) {
    throw new CommandError(
      "Cannot add the project: pass --slug with lowercase letters, digits, - and _",
    );
  }
  if ((repo === undefined) === (folder === undefined)) {
    throw new CommandError(
      "Cannot add the project: pass either --repo OWNER/NAME or --folder PATH",
    );
  }
  if (repo !== undefined && !REPO.test(repo)) {
    throw new CommandError("Cannot add the project: pass the repository with --repo OWNER/NAME");
  }
  if (folder !== undefined) await assertIsFolder(folder);
  const globs = values.globs === undefined ? null : globsOf(values.globs);
  const problem = globs === null ? null : findGlobProblem(globs);
  if (problem !== null) throw new CommandError(`Cannot use the list of --globs: ${problem}`);
  const environment = await readEnvironment(PROJECT_ROOT);
  const dbUrl = await findDatabaseUrl(values.db, environment);

  await usePlatform(dbUrl, { applicationName: "quoth-add" }, async (sql) => {
    const project = await addProject(sql, {
      slug,
      repo: repo ?? null,
      branch: values.branch ?? null,
      globs,
      language: values.language ?? null,
      embedder: values.embedder ?? null,
      members: listOf(values.member ?? ""),
      isSynced: !values["no-sync"],
      token: tokenOf(values["token-env"], environment),
      defaultToken: environment.GITHUB_TOKEN ?? null,
    });
    if (folder !== undefined) {
      const isSynced = !values["no-sync"];
      return writeLine(await indexFolder(sql, { project, folder, isSynced, asJson: values.json }));
    }
    const webhookUrl = webhookUrlOf(values.url, project, environment);
    const githubUrl = webUrlOf(environment.SUPASWARM_GITHUB_API_URL || "https://api.github.com");
    writeLine(values.json ? toJson(project, webhookUrl) : toText(project, webhookUrl, githubUrl));
  });
});

async function assertIsFolder(path: string): Promise<void> {
  const info = await Deno.stat(path).catch(() => null);
  if (!info?.isDirectory) throw new CommandError(`Cannot read --folder: ${path} is not a folder`);
}

/** Sends the changes of the folder and prints the result. */
async function indexFolder(sql: Sql, { project, folder, isSynced, asJson }: {
  readonly project: AddedProject;
  readonly folder: string;
  readonly isSynced: boolean;
  readonly asJson: boolean;
}): Promise<string> {
  const path = resolve(folder);
  if (!isSynced) return asJson ? toJson(project, null) : describeFolder(project, path).join("\n");
  const { files, skipped } = await readFolder(path, createPathFilter(project.include_globs));
  const sync = await syncFolder(sql, project.project_id, files);
  if (asJson) {
    return toJson({ ...project, sync_id: sync.syncId }, null, {
      written_count: sync.writtenCount,
      deleted_count: sync.deletedCount,
      unchanged_count: sync.unchangedCount,
      skipped,
    });
  }
  return [
    ...describeFolder(project, path),
    `Files    ${sync.writtenCount} to index, ${sync.deletedCount} to delete, ` +
    `${sync.unchangedCount} unchanged`,
    `Sync     ${sync.syncId ?? "none, because nothing has changed"}`,
    ...skipped.map(({ path, reason }) => `Skipped  ${path}: ${reason}`),
  ].join("\n");
}

function describeFolder(project: AddedProject, path: string): string[] {
  return [
    `${project.is_new ? "Added" : "Kept"}    ${project.slug}: folder ${path}`,
    ...describeProject(project),
  ];
}

function describeProject({ project_id, embedder, next_embedder }: AddedProject): string[] {
  const switching = next_embedder === null ? "" : `, switching to ${next_embedder}`;
  return [
    `Project  ${project_id}`,
    `Embedder ${embedder ?? "the default, chosen by the first document"}${switching}`,
  ];
}

function listOf(text: string, separator: RegExp | "," = ","): string[] {
  return text.split(separator).map((item) => item.trim()).filter((item) => item !== "");
}

/** Splits globs at commas, but not inside braces. */
function globsOf(text: string): string[] {
  return listOf(text, /,(?![^{]*\})/);
}

/** Reads the token. The error does not quote the option, which may be the token itself. */
function tokenOf(variable: string | undefined, environment: Environment): string | null {
  if (variable === undefined) return null;
  const token = environment[variable];
  if (token) return token;
  throw new CommandError(
    "Cannot read the token: set the variable of --token-env in the environment or in .env",
  );
}

function webhookUrlOf(
  given: string | undefined,
  project: AddedProject,
  environment: Environment,
): string {
  const base = given ?? project.project_url ?? environment.SUPABASE_URL;
  const url = base?.replace(/\/+$/, "") ?? "https://<project>.supabase.co";
  return `${url}/functions/v1/quoth-sync/${project.slug}`;
}

function toJson(project: AddedProject, webhookUrl: string | null, more: object = {}): string {
  const { project_url: _, ...rest } = project;
  return JSON.stringify({ ...rest, webhook_url: webhookUrl, ...more });
}

function toText(project: AddedProject, webhookUrl: string, githubUrl: string): string {
  const { slug, github_repo, default_branch } = project;
  return [
    `${project.is_new ? "Added" : "Kept"}    ${slug}: ${github_repo}, branch ${default_branch}`,
    ...describeProject(project),
    `Token    ${TOKENS[project.token ?? "none"]}`,
    `Sync     ${project.sync_id ?? "not requested"}`,
    "",
    `At ${githubUrl}/${github_repo}/settings/hooks/new set`,
    `  Payload URL   ${webhookUrl}`,
    "  Content type  application/json",
    `  Secret        ${project.webhook_secret}`,
    "  Events        just the push event",
  ].join("\n");
}
