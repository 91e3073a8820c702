import { AdapterCalls, type AdapterOptions } from '@actlog/recorder/adapter';
import { shownResult, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/**
 * Creates the `AdapterCalls` of this adapter.
 *
 * @param canHold - `true` if the calls notice an abort while they wait for a person's decision
 */
export function genkitCalls(options: AdapterOptions, canHold = true): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'genkit',
      sdk: `@actlog/genkit/${version}`,
      form: 'actlog(ai, { guard }) or use: [actlog({ guard })]',
      statusOf: toolOutcomeStatus,
      resultOf: shownResult,
      canHold,
    },
    options,
  );
}
