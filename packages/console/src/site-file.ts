/** One file of the page for a server to send. */
export interface SiteFile {
  /** Value of `Content-Type`. */
  readonly type: string;
  readonly body: string;
}

/** Files of the page by name; `index.html` is the page itself. */
export type SiteFiles = Readonly<Record<string, SiteFile>>;

/** Content types by file extension. */
export const typesByEnding: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
