import type { Fault } from '../faulty-proxy.ts';
import { type Document, documents, isTo, type Mutant, refusal, requests } from './mutant.ts';

const ownSessions = 'GET /v1/agents/:id/sessions';
const lists = [
  'GET /v1/sessions',
  'GET /v1/agents',
  'GET /v1/policies',
  'GET /v1/guardian/pending-actions',
  'GET /v1/notification-channels',
] as const;

/** Ends a list after its first page. */
function endsEarly(route: string): () => Fault {
  return documents(route, (it, { query }) => {
    if (query.has('limit')) it.nextCursor = null;
  });
}

/** Shows an item of the first page again on the second one. */
function repeats(route: string): () => Fault {
  return () => {
    let first: Document;
    return documents(route, (it, { query }) => {
      if (!query.has('cursor')) first = it.items[0];
      else if (query.has('limit')) it.items[0] = first;
    })();
  };
}

const ofEach: readonly Mutant[] = lists.flatMap((route) => [
  { name: `${route}: ends early`, caughtBy: ['LST-03'], fault: endsEarly(route) },
  { name: `${route}: an item again`, caughtBy: ['LST-03', 'LST-04'], fault: repeats(route) },
  {
    name: `${route}: one item too many`,
    caughtBy: ['LST-01'],
    fault: requests(route, ({ query }) => {
      if (query.has('limit')) query.set('limit', String(Number(query.get('limit')) + 1));
    }),
  },
  {
    name: `${route}: no nextCursor on later pages`,
    caughtBy: ['PAG-01'],
    fault: documents(route, (it, { query }) => {
      if (query.has('cursor')) delete it.nextCursor;
    }),
  },
]);

/** Faults of pagination, in each list. */
export const listMutants: readonly Mutant[] = [
  ...ofEach,
  {
    name: 'a cursor is refused',
    caughtBy: ['PAG-02', 'LST-03'],
    fault: requests(ownSessions, ({ query }) =>
      query.has('cursor') ? refusal(400, 'VALIDATION_ERROR') : undefined,
    ),
  },
  {
    name: 'the limit is forgotten on later pages',
    caughtBy: ['LST-01'],
    fault: requests('GET /v1/*', ({ query }) => {
      if (query.has('cursor')) query.delete('limit');
    }),
  },
  {
    name: 'an agent has the sessions of agents that begin alike',
    caughtBy: ['END-10'],
    fault: requests(ownSessions, (passing) => {
      if (passing.path.includes('-alike-')) passing.path = passing.path.replace('-a/', '-a1/');
    }),
  },
  {
    name: 'an unknown agent has all sessions',
    caughtBy: ['END-10'],
    fault: requests(ownSessions, (passing) => {
      if (passing.path.includes('-nothing-')) passing.path = '/v1/sessions';
    }),
  },
  {
    name: "another agent's session on the last page",
    caughtBy: ['END-10', 'LST-03'],
    fault: () => {
      let foreign: Document;
      return {
        response: (it, passing) => {
          if (it.status >= 300) return;
          if (isTo('GET /v1/sessions', passing)) foreign ??= JSON.parse(it.body).items[0];
          if (!isTo(ownSessions, passing)) return;
          const page: Document = JSON.parse(it.body);
          const stranger = { ...foreign, id: 'contract-stranger' };
          if (page.nextCursor === null && page.items.length === 1) page.items = [stranger];
          it.body = JSON.stringify(page);
        },
      };
    },
  },
];
