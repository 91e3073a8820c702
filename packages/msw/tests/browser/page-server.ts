import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';

/** Serves the page, bundled for browsers, and the worker script of Mock Service Worker. */
export class PageServer {
  readonly #server: Server;
  /** Code of the page. */
  readonly bundle: string;

  private constructor(files: Readonly<Record<string, readonly [type: string, text: string]>>) {
    this.bundle = files['/page.js']?.[1] ?? '';
    this.#server = createServer(({ url = '' }, response) => {
      const [type, text] = files[url] ?? ['text/plain', ''];
      response.writeHead(text === '' ? 404 : 200, { 'content-type': type }).end(text);
    });
  }

  static async start(): Promise<PageServer> {
    const { outputFiles } = await build({
      entryPoints: [new URL('./page.ts', import.meta.url).pathname],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      conditions: ['@actlog/source', 'browser'],
      write: false,
      logLevel: 'error',
    });
    const worker = createRequire(import.meta.url).resolve('msw/mockServiceWorker.js');
    const server = new PageServer({
      '/': ['text/html', '<script type="module" src="/page.js"></script>'],
      '/page.js': ['text/javascript', outputFiles[0]?.text ?? ''],
      '/mockServiceWorker.js': ['text/javascript', await readFile(worker, 'utf8')],
    });
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
