/** The package of the Supabase CLI with which the commands of this project are tested. */
export const SUPABASE_CLI = "supabase@3.1.0";

/** A command of the Supabase CLI as people type it. */
export function supabaseCommand(args: string): string {
  return `npx -y ${SUPABASE_CLI} ${args}`;
}
