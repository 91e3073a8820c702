import type { IncomingMessage } from 'node:http';

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns the problem of a request that a web page may have sent to a listener on this machine; undefined if there is
 * none (Model Context Protocol, "Transports", "Security Warning": DNS rebinding).
 *
 * @param isLoopback - `true` if the gateway listens on this machine only
 */
export function originProblem({ headers }: IncomingMessage, isLoopback: boolean): string | undefined {
  const { origin, host } = headers;
  if (origin !== undefined && !isNamed(origin)) return 'requests of web pages are not accepted';
  if (isLoopback && !isNamed(`http://${host}`)) return 'the header Host must name this machine';
  return undefined;
}

function isNamed(origin: string): boolean {
  return URL.canParse(origin) && loopbackNames.has(new URL(origin).hostname);
}
