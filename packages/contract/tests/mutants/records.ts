import type { Passing, Returning } from '../faulty-proxy.ts';
import { documents, isTo, type Mutant, refusal, requests, responses } from './mutant.ts';

/** Returns success for a change that is not made. */
function forgets(route: string) {
  return requests(route, (passing) => {
    passing.body = JSON.stringify({ unknown_field: 1 });
  });
}

/** Returns success for a change, regardless of the service's response. */
function pretends(route: string) {
  return () => ({
    ...forgets(route)(),
    response: (it: Returning, passing: Passing) => {
      if (it.status !== 400 || !isTo(route, passing)) return;
      Object.assign(it, { status: 200, body: '{}' });
    },
  });
}

const reference = { capabilities: ['reference-profile'] } as const;

/** Faults of agents, policies, held actions and webhooks. */
export const recordMutants: readonly Mutant[] = [
  {
    name: 'agents cannot be registered',
    caughtBy: ['END-06'],
    fault: requests('POST /v1/agents', () => refusal(404, 'NOT_FOUND')),
  },
  {
    name: 'no agent is listed',
    caughtBy: ['END-07'],
    fault: documents('GET /v1/agents', (it) => {
      it.items = [];
    }),
  },
  {
    name: 'no agent can be read',
    caughtBy: ['END-08', 'END-09', 'PRF-01', 'PRF-08'],
    options: { ...reference, only: ['END', 'PRF-01', 'PRF-08'] },
    fault: requests('GET /v1/agents/:id', () => refusal(404, 'NOT_FOUND')),
  },
  {
    name: 'a change of an agent is forgotten',
    caughtBy: ['END-09'],
    fault: pretends('PATCH /v1/agents/:id'),
  },
  {
    name: 'policies cannot be created',
    caughtBy: ['END-11', 'END-24'],
    fault: requests('POST /v1/policies', () => refusal(501, 'NOT_IMPLEMENTED')),
  },
  {
    name: 'the list of policies lacks one',
    caughtBy: ['END-12'],
    fault: documents('GET /v1/policies', (it, { query }) => {
      if (!query.has('limit')) it.items.shift();
    }),
  },
  {
    name: 'another policy is read',
    caughtBy: ['END-13'],
    fault: documents('GET /v1/policies/:id', (it) => {
      it.id = 'pol_1';
    }),
  },
  {
    name: 'a change of a policy is forgotten',
    caughtBy: ['END-14'],
    fault: pretends('PATCH /v1/policies/:id'),
  },
  {
    name: 'policies cannot be archived',
    caughtBy: ['END-15'],
    fault: requests('DELETE /v1/policies/:id', () => refusal(405, 'METHOD_NOT_ALLOWED')),
  },
  {
    name: 'archiving takes the policy away',
    caughtBy: ['*STA-01'],
    fault: () => {
      const gone = new Set<string>();
      return {
        request: (passing) =>
          passing.method === 'GET' && gone.has(passing.path) ? refusal(404, 'NOT_FOUND') : undefined,
        response: (it, passing) => {
          if (passing.method === 'DELETE' && it.status < 300) gone.add(passing.path);
        },
      };
    },
  },
  {
    name: 'actions cannot be checked',
    caughtBy: ['END-16'],
    fault: requests('POST /v1/policies/check', () => refusal(404, 'NOT_FOUND')),
  },
  {
    name: 'held actions are not listed',
    caughtBy: ['END-17', 'LST-05'],
    fault: requests('GET /v1/guardian/pending-actions', () => refusal(404, 'NOT_FOUND')),
  },
  {
    name: 'held actions cannot be decided',
    caughtBy: ['END-18'],
    fault: requests('POST /v1/guardian/pending-actions/:id/decide', () => refusal(405, 'METHOD_NOT_ALLOWED')),
  },
  {
    name: 'webhooks cannot be created',
    caughtBy: ['END-19'],
    fault: requests('POST /v1/notification-channels', () => refusal(404, 'NOT_FOUND')),
  },
  {
    name: 'no webhook is listed',
    caughtBy: ['END-20'],
    fault: documents('GET /v1/notification-channels', (it) => {
      it.items = [];
    }),
  },
  {
    name: 'events are refused',
    caughtBy: [
      'END-01',
      'EVT-01',
      'EVT-02',
      'EVT-03',
      'EVT-04',
      'EVT-05',
      'EVT-06',
      'EVT-07',
      'EVT-08',
      'EVT-09',
      'EVT-10',
      'AUT-07',
    ],
    options: { only: ['END-01', 'EVT', 'AUT-07'] },
    fault: requests('POST /v1/events', () => refusal(400, 'VALIDATION_ERROR')),
  },
  {
    name: 'a redirect instead of a response',
    caughtBy: ['END-21', 'AUT-03', 'AUT-07', 'LST-05', 'SVC-01'],
    options: { only: ['END-21', 'AUT-03', 'AUT-07', 'LST-05', 'SVC-01'], readOnly: true },
    fault: () => ({
      request: (passing) =>
        passing.path === '/v1/sessions'
          ? { status: 302, headers: { location: '/login' }, body: '' }
          : undefined,
    }),
  },
  {
    name: 'the prefix /v1 is not served',
    caughtBy: ['VER-01', 'END-21'],
    options: { only: ['VER', 'END-21'], readOnly: true },
    fault: () => ({
      request: (passing) => {
        passing.path = passing.path.replace('/v1/', '/v2/');
      },
    }),
  },
  {
    name: 'a response cut short',
    caughtBy: ['END-22'],
    fault: responses('PATCH /v1/agents/:id', (it) => {
      it.body += '}';
    }),
  },
];
