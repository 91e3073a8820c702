import { AdapterCalls, type AdapterOptions, toolContent, toolOutcomeStatus } from '@actlog/recorder/adapter';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function mcpCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'mcp',
      sdk: `@actlog/mcp/${version}`,
      form: 'actlog(client, { guard })',
      statusOf: toolOutcomeStatus,
      resultOf: toolContent,
    },
    options,
  );
}
