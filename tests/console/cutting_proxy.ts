import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy whose connections a test can cut, as networks do. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Ends every connection, and accepts none until {@linkcode restore}. */
  cut(): void;
  restore(): void;
}

/** Starts a proxy on loopback to a port of this machine. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const target = connect(targetPort, "127.0.0.1");
    for (const [socket, other] of [[client, target], [target, client]] as const) {
      open.add(socket);
      // Each side that ends closes the other one.
      socket.on("close", () => {
        open.delete(socket);
        other.destroy();
      });
      socket.on("error", () => other.destroy());
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const destroyAll = () => {
    for (const socket of [...open]) socket.destroy();
  };

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      destroyAll();
    },
    restore() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
