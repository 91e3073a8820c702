/**
 * The command `actlog hook`, apart from the rest of the package, because it runs twice for each tool call.
 *
 * @packageDocumentation
 */
import { createRequire } from 'node:module';

/** Variables with which requests need undici, which the bundle does not contain. */
const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/**
 * Runs the command `actlog hook`: reads an event of a coding agent from stdin, records or checks the call, and prints the
 * decision.
 *
 * @param args - arguments after `actlog hook`
 * @returns the exit code; nothing is thrown
 */
export async function runHook(args: readonly string[]): Promise<number> {
  const { url } = import.meta;
  const isBuilt = !url.endsWith('.ts');
  if (!isBuilt || proxyVariables.some((name) => process.env[name])) {
    return (await import('./run-hook.ts')).runHook(args);
  }
  const bundle = createRequire(url)('./hook-bundle.cjs') as typeof import('./hook-bundle.ts');
  return bundle.runHook(args);
}
