/**
 * The documentation of actlog as a website: static files that any server can serve without a network.
 *
 * @packageDocumentation
 */

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';

let loading: Promise<DocsSite> | undefined;

/**
 * Returns the website, to be served below one path such as `/docs/`. Its files refer to each other by relative URLs, so
 * any path works. Read on the first call, then cached.
 *
 * @throws Error if the files cannot be read, for example because a bundler did not copy them.
 */
export function docsSite(): Promise<DocsSite> {
  loading ??= DocsSite.read(siteFolder());
  return loading;
}

/** Returns the folder that the build wrote; not at the top level, because a CommonJS bundle has no such URL. */
function siteFolder(): URL {
  // Beside the built module; programs that run from source take the last build.
  return new URL(import.meta.url.endsWith('.ts') ? '../dist/site/' : './site/', import.meta.url);
}

/** Lifetime of files whose name contains a hash of their content: a year. */
const forever = 'public, max-age=31536000, immutable';

/** Browsers revalidate other files, and receive them again only if their `ETag` has changed. */
const revalidated = 'no-cache';

/** The website: its files by path. */
export class DocsSite {
  readonly #files: ReadonlyMap<string, SiteFile>;

  private constructor(files: ReadonlyMap<string, SiteFile>) {
    this.#files = files;
  }

  /**
   * Reads the files that the build wrote.
   *
   * @throws Error if they are missing, for example because a bundler did not copy them.
   */
  static async read(folder: URL): Promise<DocsSite> {
    try {
      const scripts = JSON.parse(await readFile(new URL('scripts.json', folder), 'utf8')) as string[];
      const paths = (await readdir(folder, { recursive: true })).map((path) => path.replaceAll('\\', '/'));
      const compressed = paths.filter((path) => path.endsWith('.gz'));
      const files = compressed.map(async (path) => {
        const gzip = await readFile(new URL(path, folder));
        const name = path.slice(0, -'.gz'.length);
        return [name, { gzip, headers: headersOf(name, gzip, scripts) }] as const;
      });
      return new DocsSite(new Map(await Promise.all(files)));
    } catch (cause) {
      throw new Error('The files of the docs cannot be read; exclude @actlog/docs from the bundle.', {
        cause,
      });
    }
  }

  /**
   * Returns the file of a path such as `quick-start`, `adapters/` or `assets/app.js`, without a leading slash.
   * `undefined` if there is none.
   */
  file(path: string): SiteFile | undefined {
    if (path === '' || path.endsWith('/')) return this.#files.get(`${path}index.html`);
    return this.#files.get(path) ?? this.#files.get(`${path}.html`);
  }
}

function headersOf(name: string, gzip: Uint8Array, scripts: readonly string[]): Record<string, string> {
  const extension = extname(name);
  return {
    'content-type': typesByExtension[extension] ?? 'application/octet-stream',
    'cache-control': name.startsWith('assets/') ? forever : revalidated,
    etag: `"${createHash('sha256').update(gzip).digest('base64url').slice(0, 22)}"`,
    ...(extension === '.html' ? { 'content-security-policy': securityPolicy(scripts) } : {}),
  };
}

/** Returns the policy of a page, which allows files of the site, and inline scripts by their hashes. */
function securityPolicy(scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(' ')}`,
    // The colors of code are style attributes.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** One file of the website for a server to send. */
export interface SiteFile {
  /** Headers of the response: content type, cache lifetime, `ETag` and, for pages, the content security policy. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body, compressed with gzip. */
  readonly gzip: Uint8Array;
}

/** Content types by file extension. */
const typesByExtension: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
