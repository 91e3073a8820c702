import { keyPrefixes } from '@actlog/protocol';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { environmentVariable } from './platform.ts';

/** Everything that looks like a key of the service, wherever it stands in a text. */
const keyPattern = /\bal_(live|test)_[^\s"'<>()]+/g;

/**
 * The API key, from the option or from `ACTLOG_API_KEY`. What is wrong with it is said without showing any of it.
 *
 * @throws InvalidArgumentError When it is missing, holds white space or a character that no header can carry, or
 * does not start with `al_live_` or `al_test_`: it is then some other service's secret, which must not be sent here.
 */
export function resolveApiKey(option: string | undefined): string {
  const source = option === undefined ? 'ACTLOG_API_KEY' : 'apiKey';
  const key = option ?? environmentVariable('ACTLOG_API_KEY');
  if (!key || typeof key !== 'string') {
    throw new InvalidArgumentError(
      'apiKey is missing or no string: pass it, or set the environment variable ACTLOG_API_KEY.',
    );
  }
  if (/\s/.test(key)) {
    throw new InvalidArgumentError(`${source} holds white space or a line break: remove it.`);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new InvalidArgumentError(`${source} holds a character outside ASCII: copy it again.`);
  }
  const { live, test } = keyPrefixes;
  const prefix = [live, test].find((known) => key.startsWith(known));
  if (prefix === undefined || key.length === prefix.length) {
    throw new InvalidArgumentError(
      `${source} is no actlog key, which starts with ${live} or ${test}: is it another service's?`,
    );
  }
  return key;
}

/** Takes keys out of a text that came from outside, before it becomes part of an error or a log line. */
export function redactKeys(text: string): string {
  return text.replace(keyPattern, 'al_$1_[redacted]');
}
