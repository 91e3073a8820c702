import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { batchRecord } from '../../src/forward/destination.ts';
import { SyslogDestination } from '../../src/forward/syslog.ts';
import { atTestEnd } from '../test-end.ts';
import { createCertificate } from './rsyslog.ts';

/** Starts a TLS server that handles connections, and returns a destination for it, and one that does not trust it. */
async function startTlsServer(handle: (socket: TLSSocket) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-syslog-'));
  const { cert, key } = createCertificate(folder);
  const server = createServer(
    { cert: readFileSync(cert), key: readFileSync(key), allowHalfOpen: true },
    (socket) => {
      socket.on('error', () => {});
      handle(socket);
    },
  );
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(async () => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const settings = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, hostname: 'test-host' };
  return {
    destination: new SyslogDestination({ ...settings, caFile: cert }),
    untrusting: new SyslogDestination(settings),
  };
}

function batch(count: number, signal = new AbortController().signal) {
  const records = Array.from({ length: count }, (_, at) =>
    batchRecord(String(at), { time: 0, severity_id: 3, class_uid: 6003, message: `ünï 𝄞 ${at}` }),
  );
  return { tenant: 't', name: '0', entries: { first: 0, last: count - 1 }, records, signal };
}

test('counts the octets of each message', async () => {
  const chunks: Buffer[] = [];
  const { destination } = await startTlsServer((socket) => {
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => socket.end());
  });
  await destination.send(batch(3));
  let rest = Buffer.concat(chunks);
  for (let at = 0; at < 3; at += 1) {
    const space = rest.indexOf(' ');
    const end = space + 1 + Number(rest.subarray(0, space).toString());
    expect(rest.subarray(space + 1, end).toString('utf8')).toMatch(
      new RegExp(
        `^<108>1 1970-01-01T00:00:00\\.000Z test-host actlog - 6003 \\[origin software="actlog" swVersion="[^"]+"\\] \\u{feff}\\{.*ünï 𝄞 ${at}"\\}$`,
        'u',
      ),
    );
    rest = rest.subarray(end);
  }
  expect(rest).toHaveLength(0);
});

test('fails a batch that the receiver has not read to its end', async () => {
  const { destination } = await startTlsServer((socket) => {
    socket.once('data', () => socket.destroy());
  });
  await expect(destination.send(batch(20_000))).rejects.toMatchObject({ reason: 'unreachable' });
});

test('fails a batch that the receiver does not confirm before the time is over', async () => {
  const stop = new AbortController();
  const { destination } = await startTlsServer((socket) => {
    socket.resume();
    socket.on('end', () => stop.abort());
  });
  await expect(destination.send(batch(1, stop.signal))).rejects.toMatchObject({ reason: 'timeout' });
});

test('sends nothing to a receiver whose certificate is not trusted', async () => {
  let bytes = 0;
  const { untrusting } = await startTlsServer((socket) =>
    socket.on('data', ({ length }) => (bytes += length)),
  );
  await expect(untrusting.send(batch(1))).rejects.toMatchObject({ reason: 'unreachable' });
  expect(bytes).toBe(0);
});
