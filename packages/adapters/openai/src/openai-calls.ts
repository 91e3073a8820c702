import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions, processWide } from '@actlog/recorder/adapter';
import { version } from './version.ts';

/** Errors of arguments that do not fit, by whichever copy of this package they were noted. */
const noted = processWide('@actlog/openai/invalid-arguments', () => new WeakSet<object>());

/**
 * What passes the calls of the openai package to the recorder.
 *
 * @param canHold - whether the calls hear of an abort while a person decides
 */
export function openAICalls(options: AdapterOptions, canHold = true): AdapterCalls {
  return new AdapterCalls(
    { framework: 'openai', sdk: `@actlog/openai/${version}`, statusOf, canHold },
    options,
  );
}

/** Notes that an error is about arguments that do not fit. False where that was known. */
export function noteInvalidArguments(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return true;
  const isNew = !noted().has(error);
  noted().add(error);
  return isNew;
}

function statusOf(outcome: ToolOutcome): number | undefined {
  const isInvalid =
    !outcome.ok && typeof outcome.error === 'object' && outcome.error !== null && noted().has(outcome.error);
  return isInvalid ? responseStatuses.invalidArguments : undefined;
}
