/**
 * The console: the web page on which people see what agents did, decide about held actions, and keep policies, agents,
 * webhooks and keys. It is a few static files; whoever serves them needs nothing else.
 *
 * @packageDocumentation
 */
import { siteFiles } from '#site';
import type { SiteFiles } from './site-file.ts';

export type { SiteFile, SiteFiles } from './site-file.ts';

let loading: Promise<SiteFiles> | undefined;

/**
 * The files of the page, to be served below one path, such as `/console/`, by the server whose `/v1` the page calls.
 * They name each other relatively, so that any path prefix will do. Read at the first call, and kept.
 *
 * @throws Error where the files cannot be read, as when a bundler left them behind.
 */
export function consoleSite(): Promise<SiteFiles> {
  loading ??= siteFiles();
  return loading;
}

/**
 * The `Content-Security-Policy` that the page works under: its own script and styles, its own server, and no frame
 * around it. No text of an event can become script.
 */
export const consoleSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');
