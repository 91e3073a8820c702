import { InvalidArgumentError } from '../errors/invalid-argument-error.ts';
import { environmentVariable } from '../platform.ts';

/**
 * Returns the proxy to use: its address, `environment`, or undefined for none. As in other tools, the environment's
 * proxy is not used for addresses of this machine, which it could not reach.
 *
 * @throws InvalidArgumentError When the option is not an http or https address.
 */
export function resolveProxy(
  option: string | URL | false | undefined,
  isLoopback: boolean,
): string | undefined {
  if (option === false) return undefined;
  if (option !== undefined) {
    const text = String(option);
    if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
    throw new InvalidArgumentError('proxy must be an http or https URL, or false.');
  }
  const names = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];
  return !isLoopback && names.some((name) => environmentVariable(name)) ? 'environment' : undefined;
}
