/** Why packages could not be downloaded, and what to do. */
export interface DownloadProblem {
  readonly message: string;
  readonly hint: string;
}

/** The words of Deno and the codes of npm. */
const NETWORK =
  /dns error|tcp connect error|connection refused|timed out|network is unreachable|\bE(CONNREFUSED|CONNRESET|NOTFOUND|AI_AGAIN|TIMEDOUT|NETUNREACH|HOSTUNREACH|PIPE)\b|ERR_SOCKET_TIMEOUT|socket hang up/i;
const CERTIFICATE =
  /invalid peer certificate|unknownissuer|self[- ]signed certificate|SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET)|CERT_HAS_EXPIRED/i;
/** A folder, such as npm's cache, that this user may not change, or that is full. */
const FOLDER = /\b(?:EACCES|EPERM|EROFS|ENOSPC)\b|permission denied|no space left/i;
/** A registry or a proxy that answers with a refusal. */
const REFUSED = /(?:\bE|Bad response: )(40[137])\b/;
/** A line that names an error, without the place of npm's log. */
const ERROR_LINE = /^(?:npm )?err(?:or|!)[: ]+(?!A complete log|.*-debug-0\.log)(.+)/i;

/** Says why Deno or npm could not download packages, from what it printed. */
export function downloadProblem(output: string): DownloadProblem {
  const server = /https?:\/\/[^\s/)]+/.exec(output)?.[0] ?? "the package registry";
  if (CERTIFICATE.test(output)) {
    return {
      message: `Cannot download the packages: the certificate of ${server} is not trusted`,
      hint: "If your company inspects TLS, name the PEM file of its certificate authority in " +
        "NODE_EXTRA_CA_CERTS, which npm and Deno read, or set SSL_CERT_FILE and " +
        "DENO_TLS_CA_STORE=system. Then repeat the command.",
    };
  }
  if (NETWORK.test(output)) {
    return {
      message: `Cannot download the packages: ${server} does not answer`,
      hint: "The first start needs the network, later ones do not. Behind a proxy, set " +
        "HTTPS_PROXY; for a registry of your own, NPM_CONFIG_REGISTRY. Then repeat the command.",
    };
  }
  const [, status] = REFUSED.exec(output) ?? [];
  if (status !== undefined) {
    return {
      message: `Cannot download the packages: ${server} refuses with status ${status}`,
      hint: "Log in to the registry, or set NPM_CONFIG_REGISTRY to one that you may use.",
    };
  }
  if (FOLDER.test(output)) {
    const folder = /(?:path |['"])(\/[^\s'"]+)/.exec(output)?.[1] ?? "the folder of its cache";
    return {
      message: `Cannot download the packages: ${folder} cannot be written`,
      hint: "Correct the rights of that folder, or name others in npm_config_cache and DENO_DIR.",
    };
  }
  const lines = output.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const named = lines.map((line) => ERROR_LINE.exec(line)?.[1]).find((text) => text !== undefined);
  return {
    message: `Cannot download the packages: ${named ?? lines.at(-1) ?? "npm and Deno say nothing"}`,
    hint: "Repeat the command; if it fails again, delete Deno's cache with deno clean.",
  };
}
