/** Why packages could not be downloaded, and what to do. */
export interface DownloadProblem {
  readonly message: string;
  readonly hint: string;
}

const NETWORK = /dns error|tcp connect error|connection refused|timed out|network is unreachable/i;
const CERTIFICATE = /invalid peer certificate|unknownissuer|self[- ]signed certificate/i;

/** Says why Deno could not download packages, from what it printed. */
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
  const [first = "Deno printed nothing"] = output.split("\n")
    .filter((line) => /^error/.test(line));
  return {
    message: `Cannot download the packages: ${first.replace(/^error: /, "")}`,
    hint: "Repeat the command; if it fails again, delete Deno's cache with deno clean.",
  };
}
