import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { feed, logged } from '../evidence/logged-records.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { startRsyslog } from './rsyslog.ts';

test('forwards records to rsyslog over TLS, also after rsyslog was away', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-syslog-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const rsyslog = await startRsyslog(folder);
  const { port } = rsyslog;
  const server = await testServer({
    forward: [
      { kind: 'syslog', host: '127.0.0.1', port, caFile: join(folder, 'cert.pem'), batchRecords: 20 },
    ],
  });
  await server.policy({ effect: 'deny' });
  await server.recordMany(Array.from({ length: 90 }, (_, at) => ({ sessionId: `ünïcode ${at % 3}` })));
  await server.check({ sessionId: 's' });
  const expectAll = async () => {
    const records = await feed(server);
    await vi.waitFor(
      () => {
        const lines = rsyslog.messages();
        expect(lines.length).toBe(records.length);
        const events = lines.map((line) => JSON.parse(line.slice(line.indexOf('{'))));
        expect(events.map(({ metadata }) => metadata.uid)).toEqual(records.map(({ id }) => id));
        expect(events.map(({ metadata }) => metadata.sequence)).toEqual(records.map(({ index }) => index));
        return events;
      },
      { timeout: 60_000, interval: 100 },
    );
  };
  await logged(server, 'event', 91);
  await logged(server, 'decision', 1);
  await expectAll();
  const [first = ''] = rsyslog.messages();
  expect(first).toMatch(/^\d+ actlog 6003 \[origin software="actlog" swVersion="[^"]+"\] \u{feff}?\{/u);
  await rsyslog.stop();
  await server.record({}, {});
  await logged(server, 'event', 93);
  await vi.waitFor(
    async () =>
      expect(await (await fetch(`${server.server.url}/metrics`)).text()).toMatch(
        /actlog_forward_failures_total\{forward="syslog",reason="unreachable"\} [1-9]/,
      ),
    { timeout: 20_000 },
  );
  await startRsyslog(folder, port);
  await expectAll();
});
