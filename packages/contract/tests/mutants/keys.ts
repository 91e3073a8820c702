import type { Passing, Returning } from '../faulty-proxy.ts';
import { envelopes, isTo, type Mutant, type MutantKeys, refusal, reply } from './mutant.ts';

const unauthorised = [401];

/** Replaces the key of matching requests by the tenant's own. */
export function letsIn(matches: (passing: Passing, keys: MutantKeys) => boolean) {
  return (keys: MutantKeys) => ({
    request: (passing: Passing) => {
      if (matches(passing, keys)) passing.headers.authorization = `Bearer ${keys.own}`;
    },
  });
}

/** `true` if a request has this key. */
export function has(passing: Passing, key: string): boolean {
  return passing.headers.authorization === `Bearer ${key}`;
}

/** Returns 429 for every nth request. */
function limits(headers: Record<string, string>) {
  return () => {
    let count = 0;
    return {
      request: (): Returning | undefined => {
        count += 1;
        return count % 40 === 0 ? refusal(429, 'RATE_LIMITED', headers) : undefined;
      },
    };
  };
}

/** Faults of keys, rates and errors. */
export const keyMutants: readonly Mutant[] = [
  {
    name: 'no key is asked for',
    caughtBy: ['AUT-01', 'AUT-04', 'AUT-05'],
    fault: letsIn(() => true),
  },
  {
    name: 'the export asks for no key',
    caughtBy: ['AUT-01'],
    fault: letsIn(
      (passing) => isTo('GET /v1/sessions/:id/export.json', passing) && !passing.headers.authorization,
    ),
  },
  {
    name: 'any key that looks like one opens',
    caughtBy: ['AUT-05'],
    fault: letsIn((passing, { other, retired }) => {
      const { authorization = '' } = passing.headers;
      return authorization.startsWith('Bearer al_') && !has(passing, other) && !has(passing, retired);
    }),
  },
  {
    name: 'a key that was rotated away opens',
    caughtBy: ['AUT-04'],
    fault: letsIn((passing, { retired }) => has(passing, retired)),
  },
  {
    name: 'a key with characters after it opens',
    caughtBy: ['AUT-05'],
    fault: letsIn(({ headers: { authorization = '' } }, { own }) =>
      authorization.startsWith(`Bearer ${own}`),
    ),
  },
  {
    name: 'the beginning of a key opens',
    caughtBy: ['AUT-05'],
    fault: letsIn(
      ({ headers: { authorization = '' } }, { own }) =>
        authorization.length > 'Bearer al_live_0123456789'.length &&
        `Bearer ${own}`.startsWith(authorization),
    ),
  },
  {
    name: 'a key opens in any case',
    caughtBy: ['AUT-05'],
    fault: letsIn(
      ({ headers: { authorization = '' } }, { own }) =>
        authorization.toLowerCase() === `Bearer ${own}`.toLowerCase(),
    ),
  },
  {
    name: 'a byte order mark before each body',
    caughtBy: ['END-22'],
    fault: () => ({
      response: (it) => {
        if (it.body.startsWith('{')) it.body = `\ufeff${it.body}`;
      },
    }),
  },
  {
    name: 'Basic opens',
    caughtBy: ['AUT-05'],
    fault: letsIn(({ headers }) => headers.authorization?.startsWith('Basic ') ?? false),
  },
  {
    name: '403 instead of 401',
    caughtBy: ['AUT-01', 'AUT-04', 'AUT-05'],
    fault: () => ({
      response: (it) => {
        if (it.status === 401) it.status = 403;
      },
    }),
  },
  {
    name: 'another code for 401',
    caughtBy: ['AUT-01', 'AUT-04', 'AUT-05'],
    fault: envelopes('* *', unauthorised, (it) => {
      it.error.code = 'UNAUTHORIZED';
    }),
  },
  {
    name: 'a message that says nothing',
    caughtBy: ['AUT-06'],
    fault: envelopes('* *', unauthorised, (it) => {
      it.error.message = 'Go away.';
    }),
  },
  {
    name: 'a framework is refused',
    caughtBy: ['AUT-07'],
    fault: () => ({
      request: ({ headers }) =>
        headers['x-service-framework'] ? refusal(400, 'VALIDATION_ERROR') : undefined,
    }),
  },
  {
    name: 'x-service-sdk is required',
    caughtBy: ['AUT-07'],
    fault: () => ({
      request: ({ headers }) => (headers['x-service-sdk'] ? undefined : refusal(400, 'VALIDATION_ERROR')),
    }),
  },
  {
    name: 'keys of another form',
    caughtBy: ['AUT-02'],
    options: { apiKey: 'secret-of-another-form', only: ['AUT-02', 'AUT-03'] },
    fault: letsIn((passing) => has(passing, 'secret-of-another-form')),
  },
  {
    name: 'the official client is turned away',
    caughtBy: ['ERR-09', 'ERR-10'],
    fault: () => ({
      request: ({ headers }) =>
        headers['x-service-sdk']?.startsWith('@actlog/client') ? refusal(400, 'VALIDATION_ERROR') : undefined,
    }),
  },
  {
    name: 'changing a policy takes an altered key',
    caughtBy: ['AUT-05'],
    options: { only: ['AUT-05'] },
    fault: letsIn(
      (passing, { own, other }) =>
        isTo('PATCH /v1/policies/:id', passing) &&
        passing.headers.authorization !== undefined &&
        !has(passing, own) &&
        !has(passing, other),
    ),
  },
  {
    name: 'events take a retired key',
    caughtBy: ['AUT-04'],
    options: { only: ['AUT-04'] },
    fault: letsIn((passing, { retired }) => isTo('POST /v1/events', passing) && has(passing, retired)),
  },
  {
    name: 'decisions are rejected with another code',
    caughtBy: ['AUT-01', 'AUT-04', 'AUT-05'],
    options: { only: ['AUT-01', 'AUT-04', 'AUT-05'] },
    fault: envelopes('POST /v1/guardian/pending-actions/:id/decide', unauthorised, (it) => {
      it.error.code = 'FORBIDDEN';
    }),
  },
  {
    name: 'an invalid agentId has another code',
    caughtBy: ['ERR-04'],
    options: { only: ['ERR-04'] },
    fault: () => ({
      response: (it, passing) => {
        if (it.status === 400 && passing.body.includes('"agentId":42'))
          it.body = it.body.replace('VALIDATION_ERROR', 'BAD_AGENT');
      },
    }),
  },
  {
    name: '429 without an envelope',
    caughtBy: ['ERR-01'],
    options: { only: ['ERR-01'] },
    fault: () => {
      let count = 0;
      return {
        request: () => {
          count += 1;
          return count % 10 === 0 ? reply(429, { detail: 'slow down' }, { 'retry-after': '1' }) : undefined;
        },
      };
    },
  },
  {
    name: 'an envelope without code',
    caughtBy: ['ERR-01'],
    fault: envelopes('* *', [404], (it) => void delete it.error.code),
  },
  {
    name: 'an envelope without message',
    caughtBy: ['ERR-02'],
    fault: envelopes('* *', [404], (it) => void delete it.error.message),
  },
  {
    name: 'details are an object',
    caughtBy: ['ERR-03', '*ERR-05'],
    fault: envelopes('* *', [400], (it) => {
      it.error.details = { ...it.error.details };
    }),
  },
  { name: 'no envelope', caughtBy: ['ERR-01'], fault: envelopes('GET *', [404], (it) => it.error) },
  {
    name: 'an error in HTML',
    caughtBy: ['ERR-01', 'END-22'],
    fault: () => ({
      response: (it) => {
        if (it.status === 405)
          Object.assign(it, reply(405, '<h1>Not allowed</h1>', { 'content-type': 'text/html' }));
      },
    }),
  },
  {
    name: 'another code for validation',
    caughtBy: ['ERR-04'],
    fault: envelopes('POST /v1/events', [400], (it) => {
      it.error.code = 'BAD_REQUEST';
    }),
  },
  {
    name: 'validation without details',
    caughtBy: ['*ERR-05'],
    fault: envelopes('POST /v1/events', [400], (it) => void delete it.error.details),
  },
  {
    name: '401 for an invalid event',
    caughtBy: ['*ERR-06', 'AUT-06'],
    fault: () => ({
      response: (it, passing) => {
        if (it.status === 400 && isTo('POST /v1/events', passing)) it.status = 401;
      },
    }),
  },
  { name: '429 without Retry-After', caughtBy: ['LIM-02'], fault: limits({}) },
  {
    name: '429 with a Retry-After that says nothing',
    caughtBy: ['LIM-02'],
    fault: limits({ 'retry-after': 'soon' }),
  },
  {
    name: 'one rate for all keys',
    caughtBy: ['LIM-01'],
    options: { only: ['LIM'], burst: 40 },
    fault: () => {
      let count = 0;
      return {
        request: () => {
          count += 1;
          return count > 20 ? refusal(429, 'RATE_LIMITED', { 'retry-after': '0' }) : undefined;
        },
      };
    },
  },
];
