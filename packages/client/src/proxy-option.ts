import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { environmentVariable } from './platform.ts';

/**
 * Which proxy to use: the address of one, `environment`, or undefined for none. As in other tools, the proxy of the
 * environment is not asked for addresses of this machine, which it could not reach.
 *
 * @throws InvalidArgumentError When the option is no http or https address.
 */
export function resolveProxy(
  option: string | URL | false | undefined,
  isLoopback: boolean,
): string | undefined {
  if (option === false) return undefined;
  if (option !== undefined) {
    const text = String(option);
    if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
    throw new InvalidArgumentError('proxy must be an http or https address, or false.');
  }
  const names = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];
  return !isLoopback && names.some((name) => environmentVariable(name)) ? 'environment' : undefined;
}
