import type { Passing, Returning } from '../faulty-proxy.ts';
import {
  type Document,
  documents,
  isTo,
  type Mutant,
  refusal,
  reply,
  requests,
  responses,
} from './mutant.ts';

const session = (change: (document: Document) => unknown) => documents('GET /v1/sessions/:id', change);
const risk = (change: (document: Document) => unknown) => documents('GET /v1/sessions/:id/risk', change);
const ownSessions = 'GET /v1/agents/:id/sessions';

/** Converts every number in a document to a string. */
function withoutNumbers(document: Document): Document {
  return JSON.parse(
    JSON.stringify(document, (_name, value) => (typeof value === 'number' ? String(value) : value)),
  );
}

/** Adds the events of the previously read session. */
function mixesSessions() {
  let last: Document[] = [];
  return {
    response: (returning: Returning, passing: Passing) => {
      if (returning.status >= 300 || !isTo('GET /v1/sessions/:id', passing)) return;
      const document: Document = JSON.parse(returning.body);
      const own = document.events;
      document.events = [...own, ...last.filter((event) => event.sessionId !== document.id)];
      last = own;
      returning.body = JSON.stringify(document);
    },
  };
}

/** Replaces the first item of a page by the last one of the previous page. */
function repeatsAnItem() {
  let last: Document;
  return documents(ownSessions, (page, { query }) => {
    if (query.has('cursor')) page.items[0] = last;
    last = page.items.at(-1);
  })();
}

/** Faults of reading sessions and lists. */
export const readingMutants: readonly Mutant[] = [
  {
    name: 'a session lacks its last event',
    caughtBy: ['END-03'],
    fault: session((it) => void it.events.pop()),
  },
  { name: 'a session holds events of another', caughtBy: ['SVC-04'], fault: mixesSessions },
  {
    name: 'every session looks alike',
    caughtBy: ['END-03'],
    fault: responses('GET /v1/sessions/:id', (it) => {
      it.body = '{"events":[]}';
    }),
  },
  {
    name: 'the export is NDJSON',
    caughtBy: ['END-05', 'END-22', 'SVC-04'],
    fault: responses('GET /v1/sessions/:id/export.json', (it) => {
      const { events, ...head } = JSON.parse(it.body);
      it.body = [head, ...events].map((line) => JSON.stringify(line)).join('\n');
    }),
  },
  {
    name: 'the export lacks events',
    caughtBy: ['END-05', 'SVC-04'],
    fault: documents('GET /v1/sessions/:id/export.json', (it) => {
      it.events = [];
    }),
  },
  {
    name: 'risk fails',
    caughtBy: ['END-04'],
    fault: requests('GET /v1/sessions/:id/risk', () => refusal(500, 'INTERNAL')),
  },
  { name: 'risk without a number', caughtBy: ['RSK-01', 'RSK-02'], fault: risk(withoutNumbers) },
  { name: 'risk in nine dimensions', caughtBy: ['RSK-02'], fault: risk((it) => void it.dimensions.pop()) },
  {
    name: 'the list of sessions lacks the newest',
    caughtBy: ['END-02'],
    fault: documents('GET /v1/sessions', (it, { query }) => {
      if (!query.has('limit')) it.items.shift();
    }),
  },
  {
    name: 'unknown ids are answered with success',
    caughtBy: ['RES-01'],
    fault: () => ({
      response: (it, passing) => {
        if (it.status === 404 && isTo('GET /v1/sessions/:id', passing)) Object.assign(it, reply(200, {}));
      },
    }),
  },
  {
    name: "an agent's sessions are everybody's",
    caughtBy: ['END-10', 'LST-03'],
    fault: requests(ownSessions, (passing) => {
      passing.path = '/v1/sessions';
    }),
  },
  {
    name: "an agent's sessions lack one",
    caughtBy: ['END-10', 'LST-03', '*LST-02'],
    fault: documents(ownSessions, (it, { query }) => {
      if (!query.has('cursor')) it.items.shift();
    }),
  },
  {
    name: 'no nextCursor',
    caughtBy: ['PAG-01'],
    fault: documents('GET /v1/policies', (it) => void delete it.nextCursor),
  },
  {
    name: 'nextCursor is a number',
    caughtBy: ['PAG-01'],
    fault: documents('GET /v1/agents', (it) => {
      it.nextCursor = 7;
    }),
  },
  {
    name: 'nextCursor is empty at the end',
    caughtBy: ['PAG-02'],
    fault: documents(ownSessions, (it) => {
      it.nextCursor ??= '';
    }),
  },
  {
    name: 'the list never ends',
    caughtBy: ['PAG-02', 'LST-04'],
    fault: documents(ownSessions, (it, { query }) => {
      it.nextCursor ??= query.get('cursor');
    }),
  },
  {
    name: 'the cursor skips an item',
    caughtBy: ['LST-03'],
    fault: documents(ownSessions, (it, { query }) => {
      if (query.has('cursor')) it.items.shift();
    }),
  },
  { name: 'the cursor repeats an item', caughtBy: ['LST-03', 'LST-04'], fault: repeatsAnItem },
  {
    name: 'the cursor is ignored',
    caughtBy: ['PAG-02', 'LST-03', 'LST-04'],
    fault: requests('GET *', ({ query }) => query.delete('cursor')),
  },
  {
    name: 'the limit is ignored',
    caughtBy: ['LST-01'],
    fault: requests('GET /v1/*', ({ query }) => query.delete('limit')),
  },
  {
    name: 'pages are not full',
    caughtBy: ['*LST-02'],
    fault: requests(ownSessions, ({ query }) => {
      if (query.get('limit') === '2') query.set('limit', '1');
    }),
  },
  {
    name: 'a limit is refused',
    caughtBy: ['LST-05'],
    fault: requests('GET /v1/notification-channels', ({ query }) =>
      query.has('limit') ? refusal(400, 'VALIDATION_ERROR') : undefined,
    ),
  },
  {
    name: 'items in an object',
    caughtBy: ['LST-06'],
    fault: documents('GET /v1/agents', (it) => ({ items: { ...it.items }, nextCursor: it.nextCursor })),
  },
  {
    name: 'the type of JSON is not told',
    caughtBy: ['END-22'],
    fault: responses('GET /v1/agents', (it) => {
      it.headers['content-type'] = 'text/html';
    }),
  },
];
