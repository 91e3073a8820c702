import type { IncomingHttpHeaders } from 'node:http';

/** Headers that belong to one connection (RFC 9110, section 7.6.1), or that each message has of its own. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers by which some servers take a request for one of another method. */
const methodHeaders: ReadonlySet<string> = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** Returns the headers that a proxy passes on. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const forwarded: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isDropped = connectionHeaders.has(name.toLowerCase()) || methodHeaders.has(name.toLowerCase());
    if (value !== undefined && !isDropped) forwarded[name] = value;
  }
  return forwarded;
}
