/** One file of the page, as a server sends it. */
export interface SiteFile {
  /** The value of `Content-Type`. */
  readonly type: string;
  readonly body: string;
}

/** The files of the page by their names; `index.html` is the page itself. */
export type SiteFiles = Readonly<Record<string, SiteFile>>;

/** What a file is, by its name's ending. */
export const typesByEnding: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
