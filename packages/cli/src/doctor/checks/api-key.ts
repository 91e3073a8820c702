import { Actlog } from '@actlog/client';
import { keyPrefixes } from '@actlog/protocol';
import { type Check, found, type Outcome, ok } from '../check.ts';

/** Check of the form of `ACTLOG_API_KEY`, by the rules of the client. Nothing of the key is shown. */
export const apiKey: Check = {
  id: 'api-key',
  title: 'API key',
  run(facts) {
    const { variables } = facts;
    const value = variables.get('ACTLOG_API_KEY');
    if (value === undefined) {
      return variables.isInEnvFile('ACTLOG_API_KEY')
        ? found('api-key-not-loaded', { file: '.env' })
        : found('api-key-missing', {});
    }
    try {
      new Actlog({ apiKey: value, baseURL: 'http://127.0.0.1', proxy: false });
    } catch {
      return problemOf(value);
    }
    facts.apiKey = value;
    return ok(value.startsWith(keyPrefixes.live) ? 'a live key' : 'a test key');
  },
};

/** Returns the reason for which the client refuses a key. */
function problemOf(value: string): Outcome {
  if (/^["']|["']$/.test(value)) return found('api-key-quoted', {});
  if (/\s/.test(value)) return found('api-key-white-space', {});
  return /^[\x21-\x7e]+$/.test(value) ? found('api-key-foreign', {}) : found('api-key-not-ascii', {});
}
