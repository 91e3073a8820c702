/** One file of the page for a server to send. */
export interface SiteFile {
  /** Value of `Content-Type`. */
  readonly type: string;
  readonly body: string;
  /**
   * Value of `Cache-Control`. The name of a script or style contains a hash of its content, so it can be cached
   * forever; other files must be revalidated by their `etag`.
   */
  readonly cacheControl: string;
  /** Value of `ETag`, for the body that is not compressed. */
  readonly etag: string;
  /** The body, compressed, by the value of `Content-Encoding`. */
  readonly compressed: Readonly<Record<SiteEncoding, Uint8Array>>;
}

/** Encodings of the compressed bodies, smallest first. */
export type SiteEncoding = 'br' | 'gzip';

/** Files of the page by name; `index.html` is the page itself. */
export type SiteFiles = Readonly<Record<string, SiteFile>>;

/** Content types by file extension. */
export const typesByEnding: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
};

/** A name with the hash that the build adds. */
const hashedName = /-[0-9A-Z]{8}\.(?:js|css)$/;

/** Returns the value of `Cache-Control` for a file. */
export function cacheControlOf(name: string): string {
  return hashedName.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache';
}
