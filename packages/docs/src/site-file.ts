/** One file of the website for a server to send. */
export interface SiteFile {
  /** Headers of the response: content type, cache lifetime, `ETag` and, for pages, the content security policy. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body, compressed with gzip. */
  readonly gzip: Uint8Array;
}

/** Content types by file extension. */
export const typesByExtension: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
