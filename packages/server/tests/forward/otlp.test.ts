import { expect, test, vi } from 'vitest';
import { feed, logged } from '../evidence/logged-records.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { type ReceivedRequest, type ReceiverResponse, startReceiver } from './receivers.ts';

interface LogRecord {
  readonly timeUnixNano: string;
  readonly severityNumber: number;
  readonly body: { readonly stringValue: string };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

test('forwards records as logs of OTLP, and sends a batch again that was partly rejected', async () => {
  const received = new Map<string, LogRecord>();
  let rejected = 1;
  const handle = ({ method, path, headers, text }: ReceivedRequest): ReceiverResponse => {
    if (method !== 'POST' || path !== '/v1/logs') return { status: 404 };
    if (headers['content-type'] !== 'application/json') return { status: 415 };
    if (headers['x-api-key'] !== 'token') return { status: 401 };
    if (rejected > 0) {
      rejected -= 1;
      return { status: 200, body: { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'full' } } };
    }
    const { resourceLogs } = JSON.parse(text);
    expect(resourceLogs).toHaveLength(1);
    const [{ resource, scopeLogs }] = resourceLogs;
    expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'actlog' } });
    for (const record of scopeLogs[0].logRecords as LogRecord[]) {
      received.set(JSON.parse(record.body.stringValue).metadata.uid, record);
    }
    return { status: 200, body: {} };
  };
  const { url } = await startReceiver(handle);
  process.env.ACTLOG_TEST_OTLP_TOKEN = 'token';
  atTestEnd(async () => void delete process.env.ACTLOG_TEST_OTLP_TOKEN);
  const server = await testServer({
    forward: [
      {
        kind: 'otlp',
        url,
        header: 'x-api-key',
        token: { variable: 'ACTLOG_TEST_OTLP_TOKEN' },
        batchRecords: 4,
      },
    ],
  });
  await server.record({}, {}, {}, {}, {}, { sourceTimestamp: '2026-11-20T09:00:00.123Z' });
  await logged(server, 'event', 6);
  const records = await feed(server);
  await vi.waitFor(() => expect([...received.keys()]).toEqual(records.map(({ id }) => id)), {
    timeout: 20_000,
  });
  expect(received.get(records.at(-1)?.id ?? '')).toMatchObject({
    timeUnixNano: `${Date.UTC(2026, 10, 20, 9, 0, 0, 123)}000000`,
    severityNumber: 9,
  });
});
