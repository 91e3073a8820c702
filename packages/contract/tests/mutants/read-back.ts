import type { Fault, Passing, Returning } from '../faulty-proxy.ts';
import { type Document, documents, isKeyed, isTo, type Mutant, reply, requests } from './mutant.ts';

const ways = [
  ['session', 'GET /v1/sessions/:id'],
  ['export', 'GET /v1/sessions/:id/export.json'],
] as const;

/** Changes every event in the session or in the export. */
function eachEvent(route: string, change: (event: Document) => unknown): () => Fault {
  return documents(route, (it) => it.events.forEach(change));
}

const alterations: readonly (readonly [what: string, change: (event: Document) => unknown])[] = [
  ['another argumentsHash', (it) => Object.assign(it.payload, { argumentsHash: `sha256:${'0'.repeat(64)}` })],
  ['no payload', (it) => delete it.payload],
  ['an empty payload', (it) => Object.assign(it, { payload: {} })],
  ['no toolName', (it) => delete it.payload.toolName],
  ['the status as a text', (it) => Object.assign(it.payload, { responseStatus: '200' })],
  ['another schemaVersion', (it) => Object.assign(it, { schemaVersion: '2.0' })],
  ['no category', (it) => delete it.category],
  [
    'times without fractions',
    (it) => {
      it.sourceTimestamp = it.sourceTimestamp.replace(/\.\d+/, '.000');
    },
  ],
];

const altered: readonly Mutant[] = ways.flatMap(([where, route]) =>
  alterations.map(([what, change]) => ({
    name: `events with ${what} in the ${where}`,
    caughtBy: ['EVT-11'],
    fault: eachEvent(route, change),
  })),
);

/** Remembers events that were rejected with a status, and shows them in their session. */
function recordsRejected(status: number): () => Fault {
  return () => {
    const rejected: Document[] = [];
    return {
      response: (returning: Returning, passing: Passing) => {
        if (isTo('POST /v1/events', passing) && returning.status === status) {
          if (passing.body.startsWith('{"')) rejected.push(parsed(passing.body));
        } else if (isTo('GET /v1/sessions/:id', passing) && returning.status < 300) {
          const document: Document = JSON.parse(returning.body);
          document.events.push(...rejected.filter((one) => one?.sessionId === document.id));
          returning.body = JSON.stringify(document);
        }
      },
    };
  };
}

function parsed(body: string): Document {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Faults of what is read of events that were accepted or rejected. */
export const readBackMutants: readonly Mutant[] = [
  ...altered,
  {
    name: 'events of nobody',
    caughtBy: ['SVC-03'],
    fault: documents('GET /v1/sessions/:id', (it) => {
      it.agentId = it.agentIds = undefined;
      for (const event of it.events) delete event.agentId;
    }),
  },
  {
    name: 'the export with every event twice',
    caughtBy: ['EVT-12'],
    fault: documents('GET /v1/sessions/:id/export.json', (it) => void it.events.push(...it.events)),
  },
  {
    name: 'a session with ten events at most',
    caughtBy: ['END-03'],
    fault: documents('GET /v1/sessions/:id', (it) => {
      it.events = it.events.slice(0, 10);
    }),
  },
  {
    name: 'an export with ten events at most',
    caughtBy: ['END-05'],
    fault: documents('GET /v1/sessions/:id/export.json', (it) => {
      it.events = it.events.slice(0, 10);
    }),
  },
  {
    name: 'an export with the events of other sessions',
    caughtBy: ['END-05', 'SVC-04'],
    fault: mixesExports,
  },
  {
    name: 'every fourth event acknowledged, but lost',
    caughtBy: ['END-03'],
    fault: losesEvents,
  },
  {
    name: 'sessions that differ in case are one',
    caughtBy: ['SVC-04'],
    fault: () => ({
      request: (passing: Passing) => {
        passing.path = passing.path.replace(/-alike-.*/, (id) => id.toLowerCase());
        passing.body = passing.body.replace(/"sessionId":"[^"]*-alike-[^"]*"/, (id) =>
          id.replace(/-alike-.*/, (end) => end.toLowerCase()),
        );
      },
    }),
  },
  {
    name: 'sessions that begin alike are one',
    caughtBy: ['SVC-04'],
    fault: () => ({
      request: (passing: Passing) => {
        if (passing.path.includes('-alike-')) passing.path = passing.path.replace(/-a1$/, '-a');
        passing.body = passing.body.replace(/("sessionId":"[^"]*-alike-[^"]*)-a1"/, '$1-a"');
      },
    }),
  },
  { name: 'rejected events recorded', caughtBy: ['ING-02'], fault: recordsRejected(400) },
  {
    name: 'events with a wrong key recorded',
    caughtBy: ['AUT-05'],
    options: { only: ['AUT-05'] },
    fault: recordsRejected(401),
  },
  {
    name: 'receivedAt is the time of the event',
    caughtBy: ['ACK-02'],
    fault: documents('POST /v1/events', (it, { body }) => {
      it.receivedAt = new Date(JSON.parse(body).sourceTimestamp).toISOString();
    }),
  },
  {
    name: 'receivedAt an hour late',
    caughtBy: ['ACK-02'],
    fault: documents('POST /v1/events', (it) => {
      it.receivedAt = new Date(Date.parse(it.receivedAt) + 3_600_000).toISOString();
    }),
  },
  {
    name: 'the acknowledgement of the event before',
    caughtBy: ['ACK-01'],
    fault: () => {
      let last: unknown;
      return documents('POST /v1/events', (it) => {
        [it.eventId, last] = [last ?? it.eventId, it.eventId];
      })();
    },
  },
  {
    name: '201 from the tenth event on',
    caughtBy: ['ING-01'],
    fault: () => {
      let count = 0;
      return {
        response: (it, passing) => {
          if (it.status !== 202 || !isTo('POST /v1/events', passing)) return;
          count += 1;
          if (count >= 10) it.status = 201;
        },
      };
    },
  },
];

function losesEvents(): Fault {
  let count = 0;
  return requests('POST /v1/events', ({ body }) => {
    const event = parsed(body);
    if (!event?.sessionId?.includes?.('-session-')) return undefined;
    count += 1;
    if (count % 4 !== 0) return undefined;
    return reply(202, { eventId: event.eventId, receivedAt: new Date().toISOString(), warnings: [] });
  })();
}

function mixesExports(): Fault {
  const seen: Document[] = [];
  return {
    response: (returning, passing) => {
      if (isTo('POST /v1/events', passing) && returning.status < 300 && isKeyed(passing)) {
        const event = parsed(passing.body);
        if (event) seen.push(event);
      } else if (isTo('GET /v1/sessions/:id/export.json', passing) && returning.status < 300) {
        const document: Document = JSON.parse(returning.body);
        document.events.push(...seen.filter(({ sessionId }) => sessionId !== document.session.id));
        returning.body = JSON.stringify(document);
      }
    },
  };
}
