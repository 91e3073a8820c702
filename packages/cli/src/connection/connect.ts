import type { Actlog, ClientOptions } from '@actlog/client';
import { MissingKeyError, UsageError } from '../errors/usage-error.ts';
import { version } from '../version.ts';
import type { ConnectionFlags } from './connection-options.ts';
import { readEnvFile } from './read-env-file.ts';

/**
 * Creates the client for the deployment that the options, the file of `--env-file` and the environment name, in this
 * order of precedence.
 *
 * @throws UsageError when there is no address
 * @throws MissingKeyError when there is no API key
 */
export async function connect(flags: ConnectionFlags): Promise<Actlog> {
  const file = flags.envFile === undefined ? {} : readEnvFile(flags.envFile);
  const setting = (name: string) => file[name]?.trim() || process.env[name]?.trim() || undefined;
  const baseURL = flags.baseUrl ?? setting('ACTLOG_BASE_URL');
  if (baseURL === undefined) {
    throw new UsageError(
      'No address is set: export ACTLOG_BASE_URL, or pass --base-url. `actlog serve` starts a server on http://127.0.0.1:8787.',
    );
  }
  const apiKey = setting('ACTLOG_API_KEY');
  if (apiKey === undefined) throw new MissingKeyError();
  const { Actlog: Client } = await import('@actlog/client');
  return new Client({
    baseURL,
    apiKey,
    sdk: `actlog-cli/${version}`,
    allowInsecureHttp: flags.allowInsecureHttp ?? false,
    logLevel: (setting('ACTLOG_LOG') as ClientOptions['logLevel']) ?? 'error',
  });
}
