import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Actlog, ClientOptions } from '@actlog/client';
import { decodeText } from '@actlog/recorder/short-lived';
import type { Command } from 'commander';
import { MissingKeyError, UsageError } from '../errors/usage-error.ts';
import { version } from '../version.ts';

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

/** Options that say which deployment a command calls. The key has no flag, because lists of processes show flags. */
export interface ConnectionFlags {
  readonly baseUrl?: string;
  readonly envFile?: string;
  readonly allowInsecureHttp?: true;
}

/** Adds the options of a connection to a command. */
export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup('Connection:')
    .option('--base-url <url>', 'address of the deployment, without /v1 (ACTLOG_BASE_URL)')
    .option(
      '--env-file <file>',
      'file with ACTLOG_BASE_URL and ACTLOG_API_KEY, which precede the environment',
    )
    .option('--allow-insecure-http', 'send the key unencrypted to another machine')
    .addHelpText('after', '\nThe API key is read from ACTLOG_API_KEY, in the environment or in --env-file.');
}

/**
 * Returns the variables of a file in the format of `node --env-file`.
 *
 * @throws UsageError when the file cannot be read. The message contains nothing of its content.
 */
export function readEnvFile(file: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(decodeText(readFileSync(file)));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'unknown error'})`;
    throw new UsageError(`The file "${file}" of --env-file ${problem}: check its path and permissions.`, {
      cause,
    });
  }
}
