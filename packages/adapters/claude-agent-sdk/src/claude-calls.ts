import { AdapterCalls, type AdapterOptions, toolContent } from '@actlog/recorder/adapter';
import { replaced } from './tool-outcome.ts';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function claudeCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'claude-agent-sdk',
      sdk: `@actlog/claude-agent-sdk/${version}`,
      form: 'options: actlog({ model }, { guard })',
      // Claude Code returns typed results with it; the run cannot end otherwise.
      internalTools: ['StructuredOutput'],
      resultOf: toolContent,
      outcomeOf: (outcome) => (!outcome.ok && outcome.error === replaced.error ? undefined : outcome),
    },
    options,
  );
}
