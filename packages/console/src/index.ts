/**
 * The console: a web page to review sessions, decide about held actions, and manage policies, agents,
 * webhooks and keys.
 * It consists of a few static files that any server can serve.
 *
 * @packageDocumentation
 */
import { siteFiles } from '#site';
import type { SiteFiles } from './site-file.ts';

export type { SiteEncoding, SiteFile, SiteFiles } from './site-file.ts';

let loading: Promise<SiteFiles> | undefined;

/**
 * Returns the files of the page, to be served below one path such as `/console/` by the server whose `/v1` the page
 * calls. They refer to each other by relative URLs, so any path prefix works. Read on the first call, then cached.
 *
 * @throws Error if the files cannot be read, for example because a bundler did not copy them.
 */
export function consoleSite(): Promise<SiteFiles> {
  loading ??= siteFiles();
  return loading;
}

/**
 * `Content-Security-Policy` of the page: allows only its own script, styles and server, and no frame around it. Content
 * of events can never become script.
 */
export const consoleSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');
