import type { Command } from 'commander';

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
