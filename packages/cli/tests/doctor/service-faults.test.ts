import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../server/tests/free-port.ts';
import type { FindingCode } from '../../src/doctor/findings/findings.ts';
import { type PassingResponse, startAlteringProxy } from './altering-proxy.ts';
import { createCertificate } from './certificate.ts';
import { codesOf, TestSetup } from './fixture.ts';

const hourMs = 3_600_000;

/** Makes the clock of the service differ from this machine's. */
function shiftDate(byMs: number): (response: PassingResponse) => void {
  return (response) => {
    response.headers.date = new Date(Date.now() + byMs).toUTCString();
  };
}

function respondWith(status: number, headers: Record<string, string>, body: string) {
  return (response: PassingResponse) => Object.assign(response, { status, headers, body });
}

/** Makes the server show another version. */
function showVersion(version: string): (response: PassingResponse) => void {
  return (response) => {
    if (response.path !== '/console/api/identity') return;
    response.body = JSON.stringify({ ...JSON.parse(response.body), serverVersion: version });
  };
}

const html = { 'content-type': 'text/html; charset=utf-8' };
const json = { 'content-type': 'application/json' };

test.each<[FindingCode, string, Record<string, string>, string]>([
  ['base-url-missing', 'no address', { ACTLOG_BASE_URL: ' ' }, 'Set it to the address'],
  [
    'base-url-quoted',
    'an address in quotes',
    { ACTLOG_BASE_URL: '"http://127.0.0.1:1"' },
    'Remove the quotation',
  ],
  ['base-url-version', 'an address with /v1', { ACTLOG_BASE_URL: 'http://127.0.0.1:1/v1/' }, 'Remove /v1'],
  ['base-url-insecure', 'http to another machine', { ACTLOG_BASE_URL: 'http://192.0.2.1' }, 'Use https'],
  ['base-url-parts', 'an address with a query', { ACTLOG_BASE_URL: 'https://a.example/?x=1' }, 'Remove them'],
  ['base-url-invalid', 'an address without a scheme', { ACTLOG_BASE_URL: 'actlog.example' }, 'https://'],
  ['api-key-missing', 'no key', { ACTLOG_API_KEY: '' }, 'keys create'],
  ['api-key-quoted', 'a key in quotes', { ACTLOG_API_KEY: "'al_test_1'" }, 'Remove the quotation'],
  ['api-key-white-space', 'a key on two lines', { ACTLOG_API_KEY: 'al_test_1\n2' }, 'copy the key again'],
  ['api-key-not-ascii', 'the key of an example', { ACTLOG_API_KEY: 'al_test_…' }, 'Copy the key again'],
  ['api-key-foreign', 'the key of another service', { ACTLOG_API_KEY: 'sk-1234567890' }, 'another service'],
  ['key-rejected', 'a wrong key', { ACTLOG_API_KEY: 'al_test_0123456789' }, 'Set ACTLOG_API_KEY'],
  ['name-unknown', 'an unknown name', { ACTLOG_BASE_URL: 'https://actlog.invalid' }, 'Correct the host'],
])('finds %s: %s', async (code, _fault, env, fix) => {
  const setup = await TestSetup.create();
  Object.assign(setup.env, env);
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual([code]);
  expect(lines.find((line) => line.code === code)?.fix).toContain(fix);
  expect(JSON.stringify(lines)).not.toContain('sk-1234567890');
});

test.each<[FindingCode, string, (response: PassingResponse) => void, string]>([
  ['clock-off', 'a clock an hour behind', shiftDate(hourMs), 'Synchronize the clocks'],
  ['clock-off', 'a clock an hour ahead', shiftDate(-hourMs), 'Synchronize the clocks'],
  [
    'service-web-page',
    'a sign-in page of the network',
    respondWith(200, html, '<html>'),
    'Sign in to this network',
  ],
  [
    'service-web-page',
    'an error page of a proxy',
    respondWith(403, html, '<html>'),
    'Sign in to this network',
  ],
  [
    'service-redirects',
    'a redirect',
    respondWith(302, { location: 'https://portal.example/login?token=secret' }, ''),
    'the address of the service itself',
  ],
  ['service-foreign', 'another service', respondWith(200, json, '{"hello":"world"}'), 'Correct the host'],
  ['service-foreign', 'a wrong path', respondWith(404, json, '{"error":{"code":"NOT_FOUND"}}'), 'the path'],
  [
    'service-unavailable',
    'a gateway without a service',
    respondWith(502, html, '<html>'),
    'log of the service',
  ],
  [
    'service-not-ready',
    'a service without its database',
    (response) => {
      if (response.path === '/readyz') response.status = 503;
    },
    'Start the database',
  ],
  [
    'service-proxy-sign-in',
    'a proxy that requires a password',
    respondWith(407, html, ''),
    'percent-encoded',
  ],
  [
    'key-throttled',
    'a limited key',
    (response) => {
      if (response.status === 200 && response.path.startsWith('/v1/sessions')) {
        respondWith(
          429,
          { ...json, 'retry-after': '7' },
          '{"error":{"code":"RATE_LIMITED","message":"x"}}',
        )(response);
      }
    },
    'Repeat this in 7 s',
  ],
  ['service-too-old', 'an old version of the server', showVersion('0.0.0-beta.1'), 'Upgrade the service'],
  ['service-too-new', 'a new version of the server', showVersion('9.0.0'), 'Upgrade this command'],
])('finds %s: %s', async (code, _fault, alter, fix) => {
  const setup = await TestSetup.create();
  setup.env.ACTLOG_BASE_URL = await startAlteringProxy(setup.server.url, alter);
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual([code]);
  expect(lines.find((line) => line.code === code)?.fix).toContain(fix);
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('finds a closed port, and checks nothing that depends on it', async () => {
  const setup = await TestSetup.create();
  const port = await freePort();
  setup.env.ACTLOG_BASE_URL = `http://127.0.0.1:${port}`;
  const { stdout, stderr, exitCode } = await setup.run();
  expect(exitCode).toBe(1);
  const lines = stdout.split('\n');
  const [failed = '', fix = ''] = lines.slice(lines.findIndex((line) => line.startsWith('✗')));
  expect(failed).toContain(`Nothing listens on port ${port} of 127.0.0.1 (ECONNREFUSED).`);
  expect(fix).toContain('Fix: Start the service, or correct the port in ACTLOG_BASE_URL.');
  expect(lines.filter((line) => line.startsWith('✗'))).toHaveLength(1);
  expect(lines.filter((line) => line.includes('because "Connection" did not pass'))).toHaveLength(9);
  expect(stderr).toBe('\n1 problem found.\n');
});

test('finds a server that accepts connections and never responds', async () => {
  const setup = await TestSetup.create();
  const silent = createTcpServer().listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await new Promise((resolve) => silent.once('listening', resolve));
  setup.env.ACTLOG_BASE_URL = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const lines = await setup.diagnose(['--timeout', '200ms']);
  expect(codesOf(lines, 'failed')).toEqual(['service-silent']);
});

test.each<[FindingCode, string, number, string]>([
  ['tls-untrusted', 'IP:127.0.0.1', 30, 'NODE_EXTRA_CA_CERTS'],
  ['tls-name', 'DNS:other.example', 30, 'Use one of these names'],
  ['tls-expired', 'IP:127.0.0.1', -1, 'Renew the certificate'],
])('finds %s: a certificate for %s, valid for %i days', async (code, names, days, fix) => {
  const setup = await TestSetup.create();
  const certificate = createCertificate(names, days);
  setup.env.ACTLOG_BASE_URL = await startAlteringProxy(setup.server.url, () => {}, certificate);
  if (code !== 'tls-untrusted') setup.env.NODE_EXTRA_CA_CERTS = certificate.file;
  const lines = await setup.diagnoseInProcess();
  expect(codesOf(lines, 'failed')).toEqual([code]);
  expect(lines.find((line) => line.code === code)?.fix).toContain(fix);
});

test('trusts a certificate of NODE_EXTRA_CA_CERTS, as the client does', async () => {
  const setup = await TestSetup.create();
  const certificate = createCertificate('IP:127.0.0.1');
  setup.env.ACTLOG_BASE_URL = await startAlteringProxy(setup.server.url, () => {}, certificate);
  setup.env.NODE_EXTRA_CA_CERTS = certificate.file;
  expect((await setup.diagnoseInProcess()).map(({ status }) => status)).not.toContain('failed');
});

test('finds plain HTTP on a port that should have TLS', async () => {
  const setup = await TestSetup.create();
  setup.env.ACTLOG_BASE_URL = setup.server.url.replace('http:', 'https:');
  expect(codesOf(await setup.diagnose(), 'failed')).toEqual(['tls-failed']);
});

test('finds a proxy that does not run', async () => {
  const setup = await TestSetup.create();
  setup.env.ACTLOG_BASE_URL = 'https://actlog.example';
  setup.env.HTTPS_PROXY = `http://user:password@127.0.0.1:${await freePort()}`;
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual(['proxy-unreachable']);
  expect(JSON.stringify(lines)).not.toContain('password');
});

test('finds a proxy that responds with a page of its own', async () => {
  const setup = await TestSetup.create();
  const proxy = createServer((_, response) => response.writeHead(200, html).end('<html>'));
  proxy.on('connect', (_, socket) =>
    socket.end(
      'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>',
    ),
  );
  onTestFinished(() => void proxy.close());
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  setup.env.ACTLOG_BASE_URL = 'http://actlog.example';
  setup.env.HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const lines = await setup.diagnose(['--allow-insecure-http']);
  expect(codesOf(lines, 'failed')).toEqual(['service-web-page']);
});

test('finds variables that are only in the .env file', async () => {
  const setup = await TestSetup.create();
  const { ACTLOG_BASE_URL, ACTLOG_API_KEY } = setup.env;
  delete setup.env.ACTLOG_BASE_URL;
  delete setup.env.ACTLOG_API_KEY;
  setup.write('.env', `ACTLOG_BASE_URL=${ACTLOG_BASE_URL}\nACTLOG_API_KEY=${ACTLOG_API_KEY}\n`);
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual(['base-url-not-loaded', 'api-key-not-loaded']);
  const loaded = await setup.diagnose(['--env-file', '.env']);
  expect(codesOf(loaded, 'failed')).toEqual([]);
});

test.each<[string, readonly ('ingest' | 'read' | 'manage' | 'decide')[], unknown[]]>([
  ['without ingest', ['read'], ['key-without-ingest']],
  ['without read', ['ingest'], []],
])('finds out what a key may do: %s', async (_key, scopes, codes) => {
  const setup = await TestSetup.create();
  const { apiKey } = await setup.server.admin.keys.create('default', { name: 'agent', scopes });
  setup.env.ACTLOG_API_KEY = apiKey;
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual(codes);
  // A deployment without a console does not show the scopes.
  setup.env.ACTLOG_BASE_URL = await startAlteringProxy(setup.server.url, (response) => {
    if (response.path.startsWith('/console')) respondWith(404, json, '{}')(response);
  });
  expect(codesOf(await setup.diagnose(), 'failed')).toEqual(codes);
});

test('finds a used-up quota, and a key that expires soon', async () => {
  const setup = await TestSetup.create({ quotas: { eventsPerMonth: 0, agents: 10 } });
  const { apiKey } = await setup.server.admin.keys.create('default', {
    name: 'agent',
    scopes: ['ingest', 'read'],
    expiresInDays: 2,
  });
  setup.env.ACTLOG_API_KEY = apiKey;
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'warning')).toEqual(['key-expires-soon']);
  expect(codesOf(lines, 'failed')).toEqual(['quota-used-up']);
});

test('finds spans that the service does not understand', async () => {
  const setup = await TestSetup.create();
  const span = (name: string, attributes: Readonly<Record<string, string>>) => ({
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name,
    endTimeUnixNano: `${Date.now()}000000`,
    attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  });
  const python = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.call.arguments': "{'query': 'lamp'}",
  };
  const spans = [span('execute_tool search', python), span('search', { 'acme.tool.name': 'search' })];
  await fetch(new URL('/otlp/v1/traces', setup.server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${setup.env.ACTLOG_API_KEY}`, ...json },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ scope: { name: 'acme' }, spans }] }] }),
  });
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'warning')).toEqual(['spans-without-arguments', 'spans-not-recorded']);
  expect(codesOf(lines, 'failed')).toEqual([]);
});

test.each([
  [{ failures: 3, lagSeconds: 5, lastError: 'siem.example.com responded with 503' }, 'forwarding-fails'],
  [{ failures: 0, lagSeconds: 7200, lastError: null }, 'forwarding-behind'],
  [{ failures: 0, lagSeconds: 60, lastError: null }, undefined],
])('finds a destination that fails or is far behind: %o', async (state, code) => {
  const setup = await TestSetup.create();
  setup.env.ACTLOG_API_KEY = setup.server.apiKey;
  setup.env.ACTLOG_BASE_URL = await startAlteringProxy(setup.server.url, (response) => {
    if (response.path !== '/server/v1/forwarding') return;
    const item = {
      name: 'history',
      kind: 'history',
      position: 7,
      lagRecords: 12,
      lastSuccessAt: null,
      ...state,
    };
    response.body = JSON.stringify({ items: [item] });
  });
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'warning')).toEqual(code === undefined ? [] : [code]);
  expect(codesOf(lines, 'failed')).toEqual([]);
});
