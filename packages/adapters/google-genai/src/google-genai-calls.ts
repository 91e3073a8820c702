import { AdapterCalls, type AdapterOptions, toolContent } from '@actlog/recorder/adapter';
import { outcomeOfResponse, shownResponse, statusOfFunction } from './function-outcome.ts';
import { version } from './version.ts';

const identity = {
  framework: 'google-genai',
  sdk: `@actlog/google-genai/${version}`,
  form: 'actlog(ai, { guard })',
};

/** Creates the `AdapterCalls` of functions that the SDK runs, and that return parts of a message. */
export function automaticCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    { ...identity, outcomeOf: outcomeOfResponse, statusOf: statusOfFunction, resultOf: shownResponse },
    options,
  );
}

/** Creates the `AdapterCalls` of functions that a manual loop runs. */
export function manualCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls({ ...identity, resultOf: toolContent }, options);
}
