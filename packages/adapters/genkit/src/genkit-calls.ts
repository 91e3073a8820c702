import { AdapterCalls, type AdapterOptions } from '@actlog/recorder/adapter';
import { toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/** What passes the calls of Genkit to the recorder. */
export function genkitCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    { framework: 'genkit', sdk: `@actlog/genkit/${version}`, statusOf: toolOutcomeStatus },
    options,
  );
}
