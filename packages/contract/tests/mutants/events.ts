import { randomUUID } from 'node:crypto';
import type { Fault } from '../faulty-proxy.ts';
import { type Document, documents, events, isTo, type Mutant, reply, requests, responses } from './mutant.ts';

const ack = (change: (document: Document) => unknown) => documents('POST /v1/events', change);
const session = (change: (document: Document) => unknown) => documents('GET /v1/sessions/:id', change);
const hourMs = 3_600_000;

function later(event: Document): void {
  event.sourceTimestamp = new Date(Date.parse(event.sourceTimestamp) + hourMs).toISOString();
}

/** Fields of an event that are strings, without those in its payload. */
const stringFields = ['agentId', 'sessionId', 'category', 'schemaVersion'] as const;

/** Turns a value into text wherever an event has a string. */
function asText(value: unknown): () => Fault {
  return events((event) => {
    for (const name of stringFields) if (event[name] === value) event[name] = String(value);
    for (const name of ['toolName', 'argumentsHash'])
      if (event.payload?.[name] === value) event.payload[name] = String(value);
  });
}

/** Changes the tool name of each event. */
function toolNames(change: (toolName: string) => string): () => Fault {
  return events(({ payload }) => {
    if (typeof payload?.toolName === 'string') payload.toolName = change(payload.toolName);
  });
}

/** Takes every event of a session for one of the agent that began it. */
function oneAgentPerSession(): Fault {
  const agents = new Map<string, string>();
  return events((event) => {
    if (typeof event.sessionId !== 'string' || typeof event.agentId !== 'string') return;
    if (!agents.has(event.sessionId)) agents.set(event.sessionId, event.agentId);
    if (event.sessionId.includes('-shared-')) event.agentId = agents.get(event.sessionId);
  })();
}

/** Faults of accepting and returning events. */
export const eventMutants: readonly Mutant[] = [
  {
    name: 'tool names lose letters beyond ASCII',
    caughtBy: ['EVT-11'],
    fault: toolNames((name) => name.replaceAll(/\P{ASCII}/gu, '?')),
  },
  {
    name: 'tool names in lower case',
    caughtBy: ['EVT-11'],
    fault: toolNames((name) => name.toLowerCase()),
  },
  {
    name: 'booleans as text',
    caughtBy: ['EVT-02', 'EVT-03', 'EVT-05', 'EVT-06', 'EVT-08', 'EVT-09'],
    fault: asText(true),
  },
  {
    name: 'null as text',
    caughtBy: ['EVT-02', 'EVT-03', 'EVT-05', 'EVT-06', 'EVT-08', 'EVT-09'],
    fault: asText(null),
  },
  {
    name: 'impossible dates',
    caughtBy: ['EVT-04'],
    fault: events((event) => {
      if (/-02-30T/.test(event.sourceTimestamp)) event.sourceTimestamp = new Date().toISOString();
    }),
  },
  { name: 'the second agent of a session is the first', caughtBy: ['SVC-03'], fault: oneAgentPerSession },
  {
    name: 'responses 200',
    caughtBy: ['ING-01'],
    fault: responses('POST /v1/events', (it) => {
      it.status = 200;
    }),
  },
  { name: 'no eventId', caughtBy: ['ACK-01'], fault: ack((it) => void delete it.eventId) },
  {
    name: 'another eventId',
    caughtBy: ['ACK-01'],
    fault: ack((it) => {
      it.eventId = randomUUID();
    }),
  },
  { name: 'no receivedAt', caughtBy: ['ACK-02'], fault: ack((it) => void delete it.receivedAt) },
  {
    name: 'receivedAt without milliseconds',
    caughtBy: ['ACK-02'],
    fault: ack((it) => {
      it.receivedAt = it.receivedAt.replace(/\.\d+/, '');
    }),
  },
  {
    name: 'receivedAt with a lower-case z',
    caughtBy: ['ACK-02'],
    fault: ack((it) => {
      it.receivedAt = it.receivedAt.replace('Z', 'z');
    }),
  },
  {
    name: 'receivedAt in local time',
    caughtBy: ['ACK-02'],
    fault: ack((it) => {
      it.receivedAt = it.receivedAt.replace('Z', '+02:00');
    }),
  },
  {
    name: 'receivedAt as a number',
    caughtBy: ['ACK-02'],
    fault: ack((it) => {
      it.receivedAt = Date.parse(it.receivedAt);
    }),
  },
  {
    name: 'receivedAt long ago',
    caughtBy: ['ACK-02'],
    fault: ack((it) => {
      it.receivedAt = '1970-01-01T00:00:00.000Z';
    }),
  },
  { name: 'no warnings', caughtBy: ['ACK-03'], fault: ack((it) => void delete it.warnings) },
  {
    name: 'warnings null',
    caughtBy: ['ACK-03'],
    fault: ack((it) => {
      it.warnings = null;
    }),
  },
  {
    name: 'lower-case z accepted',
    caughtBy: ['EVT-04'],
    fault: events((it) => {
      it.sourceTimestamp = String(it.sourceTimestamp).replace(/z$/, 'Z');
    }),
  },
  {
    name: 'an offset accepted',
    caughtBy: ['EVT-04'],
    fault: events((it) => {
      it.sourceTimestamp = String(it.sourceTimestamp).replace(/\+02:00$/, 'Z');
    }),
  },
  {
    name: 'fractions of a second refused',
    caughtBy: ['EVT-04'],
    fault: events((it) => {
      it.sourceTimestamp = String(it.sourceTimestamp).endsWith('.123Z') ? '' : it.sourceTimestamp;
    }),
  },
  {
    name: 'any eventId accepted',
    caughtBy: ['EVT-01', 'ACK-01'],
    fault: events((it) => {
      it.eventId = /^[0-9a-f-]{36}$/.test(it.eventId) ? it.eventId : randomUUID();
    }),
  },
  {
    name: 'only UUID version 4 accepted',
    caughtBy: ['EVT-01'],
    fault: events((it) => {
      it.eventId = it.eventId[14] === '7' ? 'refused' : it.eventId;
    }),
  },
  {
    name: 'numbers taken for names',
    caughtBy: ['EVT-02', 'EVT-03'],
    fault: events((it) => {
      for (const name of ['agentId', 'sessionId'])
        if (typeof it[name] === 'number') it[name] = String(it[name]);
    }),
  },
  {
    name: 'any category taken for one of its own',
    caughtBy: ['EVT-05'],
    fault: events((it) => {
      it.category = String(it.category);
    }),
  },
  {
    name: 'schemaVersion as a number taken',
    caughtBy: ['EVT-06'],
    fault: events((it) => {
      it.schemaVersion = it.schemaVersion === 1 ? '1.0' : it.schemaVersion;
    }),
  },
  {
    name: 'payload as a text taken',
    caughtBy: ['EVT-07'],
    fault: events((it) => {
      it.payload = typeof it.payload === 'string' ? toolCall() : it.payload;
    }),
  },
  {
    name: 'tool name and hash as numbers taken',
    caughtBy: ['EVT-08', 'EVT-09'],
    fault: events((it) => {
      const payload = it.payload;
      for (const name of ['toolName', 'argumentsHash']) {
        if (typeof payload?.[name] === 'number') payload[name] = String(payload[name]);
      }
    }),
  },
  {
    name: 'responseStatus rounded',
    caughtBy: ['EVT-10'],
    fault: events((it) => {
      if (it.payload?.responseStatus === 200.5) it.payload.responseStatus = 200;
    }),
  },
  {
    name: 'what is no JSON taken',
    caughtBy: ['ING-02'],
    fault: requests('POST /v1/events', ({ body }) =>
      body === '{"eventId":'
        ? reply(202, { eventId: randomUUID(), receivedAt: new Date().toISOString(), warnings: [] })
        : undefined,
    ),
  },
  {
    name: 'every event shown twice',
    caughtBy: ['EVT-12'],
    fault: session((it) => void it.events.push(...it.events)),
  },
  { name: 'a repeated event stored again', caughtBy: ['EVT-12'], fault: storesAgain },
  {
    name: 'a repeated event refused',
    caughtBy: ['*EVT-13'],
    fault: () => {
      const taken = new Set<string>();
      return events(({ eventId }) => {
        if (taken.has(eventId)) return { eventId: 'refused' };
        taken.add(eventId);
        return undefined;
      })();
    },
  },
  {
    name: 'times altered in the session',
    caughtBy: ['EVT-11'],
    fault: session((it) => it.events.forEach(later)),
  },
  {
    name: 'times altered in the export',
    caughtBy: ['EVT-11'],
    fault: documents('GET /v1/sessions/:id/export.json', (it) => it.events.forEach(later)),
  },
  {
    name: 'tool names altered',
    caughtBy: ['EVT-11'],
    fault: session((it) =>
      it.events.forEach((event: Document) => {
        event.payload.toolName = 'tool';
      }),
    ),
  },
  {
    name: 'another agent shown',
    caughtBy: ['SVC-03'],
    fault: session((it) =>
      it.events.forEach((event: Document) => {
        event.agentId = 'somebody';
      }),
    ),
  },
];

function toolCall() {
  return { toolName: 'tool', argumentsHash: 'sha256:aa', responseStatus: 200 };
}

function storesAgain() {
  const times = new Map<string, number>();
  return {
    response: (returning: { status: number; body: string }, passing: Parameters<typeof isTo>[1]) => {
      if (returning.status >= 300) return;
      if (isTo('POST /v1/events', passing)) {
        const { eventId } = JSON.parse(passing.body);
        times.set(eventId, (times.get(eventId) ?? 0) + 1);
      } else if (isTo('GET /v1/sessions/:id', passing)) {
        const document: Document = JSON.parse(returning.body);
        document.events = document.events.flatMap((event: Document) =>
          Array.from({ length: times.get(event.eventId) ?? 1 }, () => event),
        );
        returning.body = JSON.stringify(document);
      }
    },
  };
}
