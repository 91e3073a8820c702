import type { Upstream } from '../http/upstream.ts';
import { headersVariable } from '../wrap/server-entry.ts';
import type { Misuse } from './gateway-flags.ts';

/**
 * Creates the upstream of `--url`, with the headers of `--header` and of the environment.
 *
 * @param misuse - reports a mistake in the arguments, and throws
 */
export async function upstreamOf(url: string, headers: readonly string[], misuse: Misuse): Promise<Upstream> {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) {
    return misuse('--url must be an address that starts with http:// or https://.');
  }
  const lines = [
    ...(process.env[headersVariable] ?? '').split('\n').filter((line) => line.trim()),
    ...headers,
  ];
  const fields = lines.map((line) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined
      ? misuse('--header must be a name and a value, such as "Authorization: Bearer …".')
      : ([name.toLowerCase(), value] as const);
  });
  const { Upstream } = await import('../http/upstream.ts');
  return new Upstream(address, Object.fromEntries(fields));
}
