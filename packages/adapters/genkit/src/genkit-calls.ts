import { AdapterCalls, type AdapterOptions } from '@actlog/recorder/adapter';
import { shownResult, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function genkitCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'genkit',
      sdk: `@actlog/genkit/${version}`,
      statusOf: toolOutcomeStatus,
      resultOf: shownResult,
    },
    options,
  );
}
