import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandEnvironment, commandLine } from './command-line.ts';
import { temporaryFolder } from './temporary-folder.ts';

const program = join(import.meta.dirname, 'programs', 'record-and-end.ts');

/** Options of {@link recordInEndedProcess}. */
export interface EndedProcessOptions {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly count: number;
  /** Default: that of the environment. */
  readonly spoolDir?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Records events in a process that is killed before it delivers them.
 *
 * @returns the ids of the events
 */
export function recordInEndedProcess({
  baseURL,
  apiKey,
  count,
  spoolDir = '',
  env,
}: EndedProcessOptions): string[] {
  const file = join(temporaryFolder(), 'ids');
  const { signal } = spawnSync(
    process.execPath,
    [...commandLine.slice(0, -1), program, String(count), file],
    {
      env: commandEnvironment({
        ACTLOG_BASE_URL: baseURL,
        ACTLOG_API_KEY: apiKey,
        ACTLOG_SPOOL_DIR: spoolDir,
        ACTLOG_AGENT_ID: 'agent',
        ...env,
      }),
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (signal !== 'SIGKILL') throw new Error('The process was not killed.');
  return readFileSync(file, 'utf8').split('\n');
}
