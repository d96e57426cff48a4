import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { Transaction } from "./caller_transaction.ts";
import type { UserAttributes } from "./user_attributes.ts";

/** A user in the format of Supabase Auth: `id`, `email`, `app_metadata`, `identities` and so on. */
export type AuthUser = JsonObject & { readonly id: string };

/** One page of users. */
export interface UserPage {
  readonly users: readonly AuthUser[];
  /** The number of users on all pages. */
  readonly userCount: number;
}

/** Reads and writes the users of the project without Auth's checks. */
export interface UserDirectory {
  find(id: string): Promise<AuthUser | null>;
  /** Lists users, the newest first. @param page From 1. */
  list(page: number, pageSize: number): Promise<UserPage>;
  isEmailTaken(email: string, exceptId: string | null): Promise<boolean>;
  create(attributes: UserAttributes): Promise<AuthUser>;
  /** Changes the given attributes. Returns `null` when the user does not exist. */
  update(id: string, attributes: UserAttributes): Promise<AuthUser | null>;
  /**
   * Removes the user and their rows in schema `auth`. Returns false when the user does not exist.
   */
  remove(id: string): Promise<boolean>;
}

/** Opens the directory on a connection that can write schema `auth`. */
export function openUserDirectory(sql: Sql): UserDirectory {
  return {
    find: (id) => findUser(sql, id),
    list: async (page, pageSize) => {
      const [counted] = await sql<{ users: string }[]>`
        select count(*) as users from auth.users where deleted_at is null`;
      const rows = await sql<{ user: AuthUser }[]>`
        select ${userJson(sql)} as user
        from auth.users as u
        where u.deleted_at is null
        order by u.created_at desc, u.id
        limit ${pageSize} offset ${(page - 1) * pageSize}`;
      return { users: rows.map(({ user }) => dropNulls(user)), userCount: Number(counted?.users) };
    },
    isEmailTaken: async (email, exceptId) => {
      const rows = await sql`
        select from auth.users
        where email = ${email} and not is_sso_user and id is distinct from ${exceptId}::uuid`;
      return rows.length > 0;
    },
    create: (attributes) => createUser(sql, attributes),
    update: (id, attributes) => updateUser(sql, id, attributes),
    remove: async (id) => (await sql`delete from auth.users where id = ${id}`).count > 0,
  };
}

async function createUser(sql: Sql, attributes: UserAttributes): Promise<AuthUser> {
  const id = attributes.id ?? crypto.randomUUID();
  const email = attributes.email ?? null;
  const appMetadata = { provider: "email", providers: ["email"], ...attributes.app_metadata };
  await sql.begin(async (tx) => {
    await tx`
      insert into auth.users (id, aud, role, email, phone, raw_app_meta_data, raw_user_meta_data,
                              created_at, updated_at)
      values (${id}, 'authenticated', ${attributes.role ?? "authenticated"}, ${email},
              ${attributes.phone ?? null}, ${sql.json(appMetadata)}, '{}', now(), now())`;
    if (email !== null) {
      await tx`
        insert into auth.identities (id, provider, provider_id, user_id, identity_data,
                                     last_sign_in_at, created_at, updated_at)
        values (gen_random_uuid(), 'email', ${id}, ${id},
                ${sql.json({ sub: id, email, email_verified: false, phone_verified: false })},
                now(), now(), now())`;
    }
    await writeAttributes(tx, id, attributes);
  });
  const user = await findUser(sql, id);
  if (user === null) throw new Error(`Cannot create user ${id}: a trigger removed it`);
  return user;
}

async function updateUser(
  sql: Sql,
  id: string,
  attributes: UserAttributes,
): Promise<AuthUser | null> {
  await sql.begin(async (tx) => {
    await writeAttributes(tx, id, attributes);
    if (attributes.email !== undefined) {
      await tx`
        update auth.identities
        set identity_data = identity_data || ${sql.json({ email: attributes.email })},
            updated_at = now()
        where user_id = ${id} and provider = 'email'`;
    }
  });
  return await findUser(sql, id);
}

/** Sets the given attributes. Merges metadata, and removes keys that are set to null. */
async function writeAttributes(
  tx: Transaction,
  id: string,
  attributes: UserAttributes,
): Promise<void> {
  const { email = null, phone = null, password = null, role = null } = attributes;
  await tx`
    update auth.users as u
    set email = coalesce(${email}, u.email),
        phone = coalesce(${phone}, u.phone),
        role = coalesce(${role}, u.role),
        encrypted_password = coalesce(
          ${attributes.password_hash ?? null},
          extensions.crypt(${password}, extensions.gen_salt('bf', 10)),
          u.encrypted_password
        ),
        email_confirmed_at = case
          when ${attributes.email_confirm ?? false} then coalesce(u.email_confirmed_at, now())
          else u.email_confirmed_at
        end,
        phone_confirmed_at = case
          when ${attributes.phone_confirm ?? false} then coalesce(u.phone_confirmed_at, now())
          else u.phone_confirmed_at
        end,
        banned_until = case
          when ${attributes.ban_seconds === undefined} then u.banned_until
          else now() + make_interval(secs => ${attributes.ban_seconds ?? null}::float8)
        end,
        raw_app_meta_data = (
          select coalesce(jsonb_object_agg(m.key, m.value), '{}')
          from jsonb_each(coalesce(u.raw_app_meta_data, '{}') || ${
    tx.json(attributes.app_metadata ?? {})
  }) as m
          where m.value <> 'null'
        ),
        raw_user_meta_data = (
          select coalesce(jsonb_object_agg(m.key, m.value), '{}')
          from jsonb_each(coalesce(u.raw_user_meta_data, '{}') || ${
    tx.json(attributes.user_metadata ?? {})
  }) as m
          where m.value <> 'null'
        ),
        updated_at = now()
    where u.id = ${id}`;
}

async function findUser(sql: Sql, id: string): Promise<AuthUser | null> {
  const [row] = await sql<{ user: AuthUser }[]>`
    select ${userJson(sql)} as user from auth.users as u where u.id = ${id}`;
  return row === undefined ? null : dropNulls(row.user);
}

function userJson(sql: Sql) {
  return sql`jsonb_build_object(
    'id', u.id, 'aud', u.aud, 'role', u.role, 'email', coalesce(u.email, ''),
    'phone', coalesce(u.phone, ''), 'email_confirmed_at', u.email_confirmed_at,
    'phone_confirmed_at', u.phone_confirmed_at, 'confirmed_at', u.confirmed_at,
    'last_sign_in_at', u.last_sign_in_at, 'app_metadata', u.raw_app_meta_data,
    'user_metadata', u.raw_user_meta_data, 'banned_until', u.banned_until,
    'created_at', u.created_at, 'updated_at', u.updated_at, 'is_anonymous', u.is_anonymous,
    'identities', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'identity_id', i.id, 'id', i.provider_id, 'user_id', i.user_id,
        'identity_data', i.identity_data, 'provider', i.provider, 'email', i.email,
        'last_sign_in_at', i.last_sign_in_at, 'created_at', i.created_at,
        'updated_at', i.updated_at
      ) order by i.created_at), '[]')
      from auth.identities as i
      where i.user_id = u.id
    )
  )`;
}

/** Removes unset fields, like Auth. */
function dropNulls(user: AuthUser): AuthUser {
  const entries = Object.entries(user).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(entries), id: user.id };
}
