import { keyPrefixes } from '@actlog/protocol';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { environmentVariable } from './platform.ts';

/** Matches API keys of the service anywhere in a text. */
const keyPattern = /\bal_(live|test)_[^\s"'<>()]+/g;

/**
 * Returns the API key from the option or from `ACTLOG_API_KEY`. Error messages never show any part of it.
 *
 * @throws InvalidArgumentError When the key is missing, contains white space or a non-ASCII character, or does not
 * start with `al_live_` or `al_test_`. In the last case it is probably a secret of another service, which must not be
 * sent.
 */
export function resolveApiKey(option: string | undefined): string {
  const source = option === undefined ? 'ACTLOG_API_KEY' : 'apiKey';
  const key = option ?? environmentVariable('ACTLOG_API_KEY');
  if (!key || typeof key !== 'string') {
    throw new InvalidArgumentError(
      'apiKey is missing or not a string: pass it, or set the environment variable ACTLOG_API_KEY.',
    );
  }
  if (/\s/.test(key)) {
    throw new InvalidArgumentError(`${source} contains white space or a line break: remove it.`);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new InvalidArgumentError(`${source} contains a non-ASCII character: copy the key again.`);
  }
  const { live, test } = keyPrefixes;
  const prefix = [live, test].find((known) => key.startsWith(known));
  if (prefix === undefined || key.length === prefix.length) {
    throw new InvalidArgumentError(
      `${source} is not an actlog key, which starts with ${live} or ${test}: check that it is not the key of another service.`,
    );
  }
  return key;
}

/** Redacts API keys in a text from outside, before it is used in an error or a log line. */
export function redactKeys(text: string): string {
  return text.replace(keyPattern, 'al_$1_[redacted]');
}
