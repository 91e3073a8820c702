import { Actlog } from '@actlog/client';
import { type Check, found, type Outcome, ok } from '../check.ts';

/** Key that passes the checks of the client and is never sent. */
export const placeholderKey = 'al_test_doctor';

/** Check of `ACTLOG_BASE_URL`, by the rules of the client. */
export const baseUrl: Check = {
  id: 'base-url',
  title: 'Address',
  run(facts) {
    const { variables, options } = facts;
    const value = variables.get('ACTLOG_BASE_URL');
    if (value === undefined) {
      return variables.isInEnvFile('ACTLOG_BASE_URL')
        ? found('base-url-not-loaded', { file: '.env' })
        : found('base-url-missing', {});
    }
    try {
      const { allowInsecureHttp } = options;
      const { baseURL } = new Actlog({
        apiKey: placeholderKey,
        baseURL: value,
        allowInsecureHttp,
        proxy: false,
      });
      facts.baseURL = new URL(baseURL);
      return ok(baseURL);
    } catch {
      return problemOf(value);
    }
  },
};

/** Returns the reason for which the client refuses an address. */
function problemOf(value: string): Outcome {
  if (/^["']|["']$/.test(value)) return found('base-url-quoted', {});
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return found('base-url-invalid', {});
  if (url.username || url.password || url.search || url.hash) return found('base-url-parts', {});
  if (/\/v1\/*$/.test(url.pathname)) return found('base-url-version', {});
  return url.protocol === 'http:'
    ? found('base-url-insecure', { host: url.hostname })
    : found('base-url-invalid', {});
}
