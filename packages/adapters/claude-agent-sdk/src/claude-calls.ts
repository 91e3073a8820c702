import { AdapterCalls, type AdapterOptions } from '@actlog/recorder/adapter';
import { replaced } from './tool-outcome.ts';
import { version } from './version.ts';

/** What passes the calls of Claude Code to the recorder. */
export function claudeCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'claude-agent-sdk',
      sdk: `@actlog/claude-agent-sdk/${version}`,
      statusOf: (outcome) => (!outcome.ok && outcome.error === replaced.error ? null : undefined),
    },
    options,
  );
}
