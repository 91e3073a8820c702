import { AdapterCalls, type AdapterOptions } from '@actlog/recorder/adapter';
import { replaced } from './tool-outcome.ts';
import { version } from './version.ts';

/** What passes the calls of Claude Code to the recorder. */
export function claudeCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'claude-agent-sdk',
      sdk: `@actlog/claude-agent-sdk/${version}`,
      outcomeOf: (told) => (!told.ok && told.error === replaced.error ? undefined : told),
    },
    options,
  );
}
