import assert from "node:assert/strict";
import { INTERNAL_SERVERS } from "./internal_servers.ts";

Deno.test("the seed has a row for each internal server, with the descriptions in its code", async () => {
  const seed = await Deno.readTextFile(new URL("../../supabase/seed.sql", import.meta.url));
  const rows = seed.matchAll(
    /\(\s+'([a-z]+)', '([^\n]+)', 'internal',\s+'([^\n]+)',\s+'\{"server": "([a-z]+)"\}'\s+\)/g,
  );
  const servers = await Promise.all(Object.values(INTERNAL_SERVERS).map((load) => load()));

  assert.deepEqual(
    [...rows].map(([, slug, title, description = "", server]) => [
      slug,
      title,
      description.replaceAll("''", "'"),
      server,
    ]).toSorted(),
    servers.map(({ name, title, description }) => [name, title, description, name]).toSorted(),
  );
});
