import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import type { Tarball } from '../packed/tarballs.ts';

/** Returns the URL of the registry that npm uses, with a trailing slash. */
function generalRegistry(): string {
  const printed = execFileSync('npm', ['config', 'get', 'registry', '--loglevel=error'], {
    encoding: 'utf8',
    cwd: tmpdir(),
  });
  return printed.trim().replace(/\/*$/, '/');
}

/** A package registry on a loopback port with the packed packages; it redirects to npm's own registry for others. */
export class TarballRegistry {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(tarballs: readonly Tarball[]): Promise<TarballRegistry> {
    const files = new Map(tarballs.map(({ manifest, file }) => [manifest.name, file]));
    const general = generalRegistry();
    const registry = new TarballRegistry(
      createServer((request, response) => {
        const path = decodeURIComponent(request.url ?? '').slice(1);
        const [name = '', isTarball] = path.split('/-/', 2);
        const file = files.get(name);
        if (file === undefined) response.writeHead(307, { location: general + request.url?.slice(1) }).end();
        else if (isTarball) response.end(readFileSync(file));
        else response.end(JSON.stringify(registry.#document(name, file)));
      }),
    );
    registry.#server.listen(0, '127.0.0.1');
    await once(registry.#server, 'listening');
    return registry;
  }

  /** URL of the registry. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Returns the registry document of a package: its only version, with the packed manifest. */
  #document(name: string, file: string): object {
    const manifest = JSON.parse(
      execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' }),
    ) as { version: string };
    const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    const dist = { tarball: `${this.url}/${name}/-/package.tgz`, integrity };
    return {
      name,
      'dist-tags': { latest: manifest.version },
      versions: { [manifest.version]: { ...manifest, dist } },
    };
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}
