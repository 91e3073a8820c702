import { AdapterCalls, type AdapterOptions } from '@actlog/recorder/adapter';
import { toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/** What passes MCP's calls to the recorder. */
export function mcpCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    { framework: 'mcp', sdk: `@actlog/mcp/${version}`, statusOf: toolOutcomeStatus },
    options,
  );
}
