import { expect, test, vi } from 'vitest';
import { feed, logged } from '../evidence/logged-records.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { type ReceivedRequest, type ReceiverResponse, startReceiver } from './receivers.ts';

interface HecEvent {
  readonly time: number;
  readonly host: string;
  readonly sourcetype: string;
  readonly index?: string;
  readonly event: { readonly metadata: { readonly uid: string } };
  readonly fields: { readonly actlog_id: string };
}

/** Splunk's HTTP Event Collector with indexer acknowledgment, as its reference documents requests, codes and statuses. */
class Collector {
  /** Events in the order in which they were indexed. */
  readonly indexed: HecEvent[] = [];
  /** Number of requests for an acknowledgment that are denied before one is granted. */
  unacknowledged = 2;
  readonly #waiting = new Map<string, HecEvent[]>();
  #nextAck = 0;

  handle = ({ method, path, headers, text }: ReceivedRequest): ReceiverResponse => {
    const failure = (status: number, code: number) => ({ status, body: { text: 'error', code } });
    if (method !== 'POST') return { status: 405 };
    if (headers.authorization !== 'Splunk 11111111-2222') return failure(403, 4);
    const channel = headers['x-splunk-request-channel'];
    if (typeof channel !== 'string' || !/^[0-9a-f-]{36}$/.test(channel)) return failure(400, 10);
    if (path === '/services/collector/ack') {
      const acks = (JSON.parse(text) as { acks: number[] }).acks.map((id) => [
        id,
        this.#isIndexed(`${channel} ${id}`),
      ]);
      return { status: 200, body: { acks: Object.fromEntries(acks) } };
    }
    if (path !== '/services/collector/event') return { status: 404 };
    const events = text.split('\n').map((line) => JSON.parse(line) as HecEvent);
    if (events.length === 0) return failure(400, 5);
    for (const event of events) {
      if (event.event === undefined) return failure(400, 12);
      if (typeof event.time !== 'number') return failure(400, 6);
      for (const value of Object.values(event.fields)) if (typeof value !== 'string') return failure(400, 15);
    }
    const ackId = this.#nextAck++;
    this.#waiting.set(`${channel} ${ackId}`, events);
    return { status: 200, body: { text: 'Success', code: 0, ackId } };
  };

  #isIndexed(id: string): boolean {
    if (this.unacknowledged > 0) {
      this.unacknowledged -= 1;
      return false;
    }
    const events = this.#waiting.get(id);
    // Splunk forgets an acknowledgment that it has reported.
    if (!events) return false;
    this.#waiting.delete(id);
    this.indexed.push(...events);
    return true;
  }
}

test('forwards records to Splunk, and waits until it has indexed them', async () => {
  const collector = new Collector();
  const { url } = await startReceiver(collector.handle);
  process.env.ACTLOG_TEST_HEC_TOKEN = '11111111-2222';
  atTestEnd(async () => void delete process.env.ACTLOG_TEST_HEC_TOKEN);
  const token = { variable: 'ACTLOG_TEST_HEC_TOKEN' };
  const server = await testServer({
    forward: [{ kind: 'splunk', url, token, index: 'agents', acknowledge: true, batchRecords: 10 }],
  });
  await server.recordMany(Array.from({ length: 25 }, (_, at) => ({ sessionId: `s${at % 2}` })));
  await logged(server, 'event', 25);
  const records = await feed(server);
  await vi.waitFor(() => expect(collector.indexed).toHaveLength(records.length), { timeout: 20_000 });
  expect(collector.indexed.map(({ event }) => event.metadata.uid)).toEqual(records.map(({ id }) => id));
  expect(collector.indexed[0]).toMatchObject({ host: 'default', index: 'agents', sourcetype: 'actlog:ocsf' });
  expect(new Set(collector.indexed.map(({ fields }) => fields.actlog_id)).size).toBe(records.length);
});

test('says what to do if the token has no indexer acknowledgment', async () => {
  const { url } = await startReceiver(() => ({ status: 200, body: { text: 'Success', code: 0 } }));
  process.env.ACTLOG_TEST_HEC_TOKEN = '11111111-2222';
  atTestEnd(async () => void delete process.env.ACTLOG_TEST_HEC_TOKEN);
  const token = { variable: 'ACTLOG_TEST_HEC_TOKEN' };
  const server = await testServer({ forward: [{ kind: 'splunk', url, token, acknowledge: true }] });
  await server.record({});
  await vi.waitFor(
    async () =>
      expect(await (await fetch(`${server.server.url}/metrics`)).text()).toMatch(
        /actlog_forward_failures_total\{forward="splunk",reason="refused"\} [1-9]/,
      ),
    { timeout: 20_000 },
  );
});
