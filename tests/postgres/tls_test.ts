import assert from "node:assert/strict";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { type NativeServer, startNativeServer } from "./native_server.ts";

/** Whether the connection that a pool opens to this address is encrypted. */
async function isEncrypted(url: string): Promise<boolean> {
  const sql = createSql(url, { maxConnections: 1, applicationName: "tls-test" });
  try {
    const [row] = await sql<{ ssl: boolean }[]>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.ssl === true;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Gives the server its own certificate, and refuses connections without TLS. */
async function requireTls({ cluster, admin }: NativeServer): Promise<void> {
  const [setting] = await admin<{ folder: string }[]>`
    select current_setting('data_directory') as folder`;
  const folder = setting?.folder ?? "";
  const { success } = await new Deno.Command("openssl", {
    args: [
      ..."req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost".split(" "),
      ...["-keyout", `${folder}/server.key`, "-out", `${folder}/server.crt`],
    ],
    stderr: "null",
  }).output();
  assert.ok(success, "openssl creates a certificate");
  const { uid, gid } = await Deno.stat(`${folder}/PG_VERSION`);
  for (const name of ["server.key", "server.crt"]) {
    await Deno.chown(`${folder}/${name}`, uid, gid);
    await Deno.chmod(`${folder}/${name}`, 0o600);
  }
  await Deno.writeTextFile(
    `${folder}/pg_hba.conf`,
    "hostssl all all 127.0.0.1/32 scram-sha-256\n",
  );
  await admin`alter system set ssl = on`;
  await admin`select pg_reload_conf()`;
  assert.ok(cluster.pid > 0);
}

Deno.test("connections use TLS if the server supports it, unless sslmode in the URL decides otherwise", async () => {
  await using server = await startNativeServer();
  const { url } = server.cluster;
  assert.equal(await isEncrypted(url), false, "a server without TLS can be reached as well");

  await requireTls(server);

  assert.equal(await isEncrypted(url), true);
  for (const mode of ["allow", "prefer", "require"]) {
    assert.equal(await isEncrypted(`${url}?sslmode=${mode}`), true, mode);
  }
  await assert.rejects(isEncrypted(`${url}?sslmode=disable`), /no encryption/);
  await assert.rejects(isEncrypted(`${url}?sslmode=verify-full`), /self.signed|certificate/i);
});
