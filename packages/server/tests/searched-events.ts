import type { EventPage } from '@actlog/protocol';
import { expect } from 'vitest';
import type { TestServer } from './test-server.ts';

export const startMs = Date.UTC(2026, 10, 1);

export type Query = Readonly<Record<string, string | number>>;

export function request(server: TestServer, query: Query): Promise<Response> {
  const url = new URL('/server/v1/events', server.server.url);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  return fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } });
}

export async function page(server: TestServer, query: Query): Promise<EventPage> {
  const response = await request(server, query);
  expect(response.status).toBe(200);
  return (await response.json()) as EventPage;
}

/** Returns the ids of all events that a search finds, page by page. */
export async function allIds(
  server: TestServer,
  query: Query,
  onPage: (page: EventPage) => void = () => {},
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const found: EventPage = await page(server, { ...query, ...(cursor && { cursor }) });
    onPage(found);
    ids.push(...found.items.map(({ eventId = '' }) => eventId));
    cursor = found.nextCursor;
  } while (cursor !== null);
  return ids;
}

const statuses = { ok: 200, error: 500, denied: 403 } as const;

/** Returns events of all kinds, newest first; three share each time. */
export function eventsOf(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const number = String(index).padStart(12, '0');
    const status = (['ok', 'ok', 'error', 'ok', 'denied'] as const)[index % 5] as 'ok';
    const isCall = index % 7 !== 3;
    return {
      eventId: `01900000-0000-7000-8000-${number}`,
      sessionId: `s-${index % 4}`,
      agentId: `agent-${index % 3}`,
      sourceTimestamp: new Date(startMs + Math.floor(index / 3) * 1000).toISOString(),
      ...(isCall
        ? {
            category: 'tool_api',
            payload: {
              toolName: `tool-${index % 6}`,
              argumentsHash: `sha256:${index % 8}`,
              responseStatus: statuses[status],
            },
          }
        : { category: index % 2 === 0 ? 'llm_call' : 'plan', payload: {} }),
    };
  }).reverse();
}

export type Sent = ReturnType<typeof eventsOf>[number];

/** Returns `true` if a search finds an event. */
export function passes({ payload, ...event }: Sent, query: Query): boolean {
  const call = payload as { toolName?: string; argumentsHash?: string; responseStatus?: number };
  return (
    (query.agentId === undefined || event.agentId === query.agentId) &&
    (query.sessionId === undefined || event.sessionId === query.sessionId) &&
    (query.category === undefined || event.category === query.category) &&
    (query.toolName === undefined || call.toolName === query.toolName) &&
    (query.argumentsHash === undefined || call.argumentsHash === query.argumentsHash) &&
    (query.status === undefined || call.responseStatus === statuses[query.status as 'ok']) &&
    (query.since === undefined || event.sourceTimestamp >= String(query.since)) &&
    (query.until === undefined || event.sourceTimestamp < String(query.until))
  );
}

/** Filters, each of which some events pass. */
export const filters: readonly Query[] = [
  {},
  { agentId: 'agent-1' },
  { sessionId: 's-2' },
  { toolName: 'tool-3' },
  { status: 'ok' },
  { status: 'error' },
  { status: 'denied' },
  { argumentsHash: 'sha256:5' },
  { since: new Date(startMs + 5000).toISOString() },
  { until: new Date(startMs + 30_000).toISOString() },
];

/** Returns the sorted ids of the events that a search finds. */
export function passing(events: readonly Sent[], query: Query): string[] {
  return events
    .filter((event) => passes(event, query))
    .map(({ eventId }) => eventId)
    .sort();
}
