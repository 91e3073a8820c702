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

/** Sends a 429 or a 503 for every nth request. */
function every(count: number, response: () => ReturnType<typeof reply>): Mutant['fault'] {
  return () => {
    let seen = 0;
    return {
      request: () => {
        seen += 1;
        return seen % count === 0 ? response() : undefined;
      },
    };
  };
}

const session = 'GET /v1/sessions/:id';
const lists = 'GET /v1/*';

/** A choice that the specification leaves to a deployment. */
export interface LawfulChoice {
  readonly name: string;
  /** Requirements that the choice could affect. */
  readonly only: readonly string[];
  readonly fault: Mutant['fault'];
  /** The SHOULD that it does not meet, if any. */
  readonly unmet?: string;
}

const choices: readonly (readonly [name: string, only: string, fault: Mutant['fault'], unmet?: string])[] = [
  [
    'events in reverse order',
    'EVT-1 SVC-03 SVC-04 END-03',
    documents(session, (it) => void it.events?.reverse()),
  ],
  [
    'events in a frame, the last one again',
    'EVT-1 SVC-03 SVC-04 END-03',
    documents(session, (it) => {
      const timeline = it.events.map((event: Document) => ({ at: event.sourceTimestamp, event }));
      return { session: { key: it.id }, timeline, newest: timeline.at(-1) };
    }),
  ],
  [
    'events without the agent and the session that the session has',
    'EVT-1 SVC-03',
    documents(session, (it) => {
      for (const event of it.events) {
        delete event.agentId;
        delete event.sessionId;
      }
    }),
  ],
  [
    'ids of events in upper case',
    'EVT-1 SVC-03 SVC-04 END-03 ING',
    documents(session, (it) => void it.events.forEach(inUpperCase)),
  ],
  [
    '200 for a creation',
    'END-0',
    responses('POST /v1/agents', (it) => void Object.assign(it, { status: 200 })),
  ],
  [
    '204 for archiving',
    'END-15 STA SVC-02',
    responses('DELETE /v1/policies/:id', (it) => void Object.assign(it, reply(204, ''))),
  ],
  [
    'fields beside those of the specification',
    'ACK ING EVT-01',
    documents('POST /v1/events', (it) => void Object.assign(it, { shard: 7, region: 'eu' })),
  ],
  [
    'other names for items',
    'LST PAG END-02 END-07 END-10 END-12 END-17 END-20',
    documents(lists, (it) => renamed(it, 'items', 'rows')),
  ],
  [
    'numbers of pages beside nextCursor',
    'LST PAG',
    documents(lists, (it) => (it.items ? { ...it, total: 3 } : it)),
  ],
  [
    'pages of one item',
    'LST PAG',
    requests(lists, ({ query }) => void (query.has('limit') && query.set('limit', '1'))),
    '*LST-02',
  ],
  [
    'one request of twenty over the rate, with a date',
    'END ERR LIM AUT',
    every(20, () => refusal(429, 'SLOW', { 'retry-after': new Date(Date.now() + 1000).toUTCString() })),
  ],
  [
    'a gateway that fails now and then',
    'END ERR AUT',
    every(20, () => reply(503, '<h1>503</h1>', { 'content-type': 'text/html' })),
  ],
  ['every second request of the official client over the rate', 'AUT-08 ERR LIM-03', limitsTheClient],
  ['another status for validation', 'ERR EVT ING', statusOf(400, 422)],
  [
    'errors without details',
    'ERR',
    () => ({
      response: (it) => {
        if (it.status === 400) it.body = it.body.replace(/,"details":\[.*\]/, '');
      },
    }),
    '*ERR-05',
  ],
  ['messages in German', 'AUT ERR', messagesOf('Der API-Schlüssel ist ungültig oder fehlt.')],
  ['messages in Japanese', 'AUT ERR', messagesOf('APIキーが無効か、指定されていません。')],
  ['messages in Turkish', 'AUT ERR', messagesOf('API anahtarı geçersiz veya eksik.')],
  [
    'ids of agents that are numbers beyond 2^53',
    'END-01 END-06 END-08 END-09 END-10 RES SVC-02 SVC-03',
    numbersAgents,
  ],
  [
    'a session with one agent',
    'SVC EVT-11',
    () => {
      const agents = new Map<string, string>();
      return requests('POST /v1/events', ({ body }) => {
        const event: Document = body.startsWith('{"') ? JSON.parse(body) : {};
        const first = agents.get(event.sessionId) ?? event.agentId;
        agents.set(event.sessionId, first);
        return first === event.agentId ? undefined : refusal(409, 'CONFLICT');
      })();
    },
  ],
  [
    'other codes for everything but keys and validation',
    'ERR RES',
    () => ({
      response: (it) => {
        if (it.status === 404) it.body = it.body.replace('NOT_FOUND', 'nothing-here');
      },
    }),
  ],
  [
    'a risk with other names',
    'RSK END-04',
    documents('GET /v1/sessions/:id/risk', (it) => ({
      overall: it.score,
      axes: Object.fromEntries(it.dimensions.map(({ id, score }: Document) => [id, score ?? 0])),
      because: it.factors,
      next: it.recommendations,
    })),
  ],
  ['a decided action listed as decided', 'END-17 END-18 LST-03', keepsDecided],
  [
    'the empty list of an unknown agent',
    'END-10 RES SVC-02',
    () => ({
      response: (it, passing) => {
        if (it.status === 404 && isTo('GET /v1/agents/:id/sessions', passing))
          Object.assign(it, reply(200, { items: [], nextCursor: null }));
      },
    }),
  ],
  [
    'success for archiving what does not exist',
    'END-15 SVC-02',
    () => ({
      response: (it, passing) => {
        if (it.status === 404 && isTo('DELETE /v1/policies/:id', passing)) Object.assign(it, reply(204, ''));
      },
    }),
  ],
];

/** Choices that the specification leaves to a deployment. None of them violates a MUST. */
export const lawfulChoices: readonly LawfulChoice[] = choices.map(([name, only, fault, unmet]) => ({
  name,
  only: only.split(' '),
  fault,
  ...(unmet !== undefined && { unmet }),
}));

function inUpperCase(event: Document): void {
  event.eventId = event.eventId.toUpperCase();
}

function renamed(document: Document, from: string, to: string): Document {
  if (!(from in document)) return document;
  const { [from]: value, ...rest } = document;
  return { [to]: value, ...rest };
}

/** Has each 401 say something else. */
function messagesOf(message: string): Mutant['fault'] {
  return () => ({
    response: (it) => {
      if (it.status === 401) it.body = it.body.replace(/"message":"[^"]*"/, `"message":"${message}"`);
    },
  });
}

/** Gives agents numbers as ids, each of which a double would round. */
function numbersAgents(): ReturnType<Mutant['fault']> {
  const numbers = new Map<string, string>();
  const numberOf = (id: string) => {
    const number = numbers.get(id) ?? String(2n ** 53n + BigInt(2 * numbers.size + 1));
    numbers.set(id, number);
    return number;
  };
  const asIds = (text: string) =>
    [...numbers].reduce((changed, [id, number]) => changed.replaceAll(number, id), text);
  return {
    request: (passing) => {
      passing.path = asIds(passing.path);
      passing.body = asIds(passing.body);
    },
    response: (it) => {
      it.body = it.body
        .replaceAll(/"id":"(agt_\w+)"/g, (_whole, id: string) => `"id":${numberOf(id)}`)
        .replaceAll(/agt_\w+/g, (id) => numberOf(id));
      const { location } = it.headers;
      if (location) it.headers.location = location.replaceAll(/agt_\w+/g, (id) => numberOf(id));
    },
  };
}

function statusOf(from: number, to: number): Mutant['fault'] {
  return () => ({
    response: (it) => {
      if (it.status === from) it.status = to;
    },
  });
}

/** Returns 429 for every second request of the official client. */
function limitsTheClient(): ReturnType<Mutant['fault']> {
  let count = 0;
  return {
    request: ({ headers }) => {
      if (!headers['x-service-sdk']?.startsWith('@actlog/client')) return undefined;
      count += 1;
      const date = new Date(Date.now() + 1000).toUTCString();
      return count % 2 === 1 ? refusal(429, 'SLOW', { 'retry-after': date }) : undefined;
    },
  };
}

/** Lists decided actions among the pending ones, in another state. */
function keepsDecided(): ReturnType<Mutant['fault']> {
  const seen = new Map<string, Document>();
  const decided = new Set<string>();
  return {
    response: (it, passing) => {
      if (it.status >= 300) return;
      if (isTo('POST /v1/guardian/pending-actions/:id/decide', passing))
        decided.add(passing.path.split('/').at(-2) ?? '');
      if (!isTo('GET /v1/guardian/pending-actions', passing) || passing.query.has('limit')) return;
      const page: Document = JSON.parse(it.body);
      for (const item of page.items) seen.set(item.id, item);
      const others = [...decided].flatMap((id) =>
        seen.has(id) ? [{ ...seen.get(id), status: 'denied' }] : [],
      );
      it.body = JSON.stringify({ ...page, items: [...page.items, ...others] });
    },
  };
}
