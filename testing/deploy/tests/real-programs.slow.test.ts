import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@actlog/server';
import ts from 'typescript';
import { Agent, fetch } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { librariesIn, unpackedPackages } from '../../../packages/log/tests/debian-packages.ts';
import { createCertificate } from '../../../packages/server/tests/forward/rsyslog.ts';
import { freePort } from '../../../packages/server/tests/free-port.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, 'deploy', path), 'utf8');

/** Folder for what is downloaded once. */
const cache = join(root, 'node_modules/.cache/deploy');
const packages = ['nginx', 'haproxy', 'caddy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'];

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-deploy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A proxy: its program with arguments, and how its configuration is adapted to the test's ports and files. */
interface Proxy {
  readonly name: string;
  /** Status of requests in progress while a server stops, which clients repeat; by default all reach the other server. */
  readonly mayFail?: number;
  start(
    folder: string,
    ports: { readonly proxy: number; readonly servers: readonly number[] },
  ): {
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
}

const replaceAll = (text: string, replacements: readonly (readonly [string, string])[]) =>
  replacements.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`The configuration does not contain "${from}".`);
    return changed.replaceAll(from, to);
  }, text);

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    start(folder, { proxy, servers }) {
      const { cert, key } = createCertificate(folder);
      const site = replaceAll(read('proxy/nginx.conf'), [
        ['127.0.0.1:8787', `127.0.0.1:${servers[0]}`],
        ['127.0.0.1:8788', `127.0.0.1:${servers[1]}`],
        ['listen 443 ssl', `listen 127.0.0.1:${proxy} ssl`],
        ['/etc/nginx/actlog.crt', cert],
        ['/etc/nginx/actlog.key', key],
      ]);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      const config = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events {}
http { access_log off; ${temporary.join(' ')}
${site} }`;
      writeFileSync(join(folder, 'nginx.conf'), config);
      return { command: 'usr/sbin/nginx', args: ['-p', folder, '-c', join(folder, 'nginx.conf')] };
    },
  },
  {
    name: 'HAProxy',
    start(folder, { proxy, servers }) {
      const { cert, key } = createCertificate(folder);
      const both = join(folder, 'both.pem');
      writeFileSync(both, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
      const config = replaceAll(read('proxy/haproxy.cfg'), [
        ['127.0.0.1:8787', `127.0.0.1:${servers[0]}`],
        ['127.0.0.1:8788', `127.0.0.1:${servers[1]}`],
        ['bind :443', `bind 127.0.0.1:${proxy}`],
        ['/etc/haproxy/actlog.pem', both],
      ]);
      writeFileSync(join(folder, 'haproxy.cfg'), config);
      return { command: 'usr/sbin/haproxy', args: ['-W', '-f', join(folder, 'haproxy.cfg')] };
    },
  },
  {
    name: 'Caddy',
    // Version 2.6, which Debian has, cannot send a body again.
    mayFail: 502,
    start(folder, { proxy, servers }) {
      const options = 'admin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tservers {';
      const config = replaceAll(read('proxy/Caddyfile'), [
        ['servers {', options],
        // The words of Debian's version, 2.6.
        ['request_buffers 256KiB', 'buffer_requests\n\t\tmax_buffer_size 256KiB'],
      ]);
      writeFileSync(join(folder, 'Caddyfile'), config);
      return {
        command: 'usr/bin/caddy',
        args: ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
        env: {
          HOME: folder,
          XDG_DATA_HOME: folder,
          ACTLOG_DOMAIN: `https://localhost:${proxy}`,
          ACTLOG_SERVERS: servers.map((port) => `127.0.0.1:${port}`).join(' '),
        },
      };
    },
  },
];

test.each(proxies)('$name sends requests to two servers, of which one stops', async ({ start, mayFail }) => {
  const system = await unpackedPackages(cache, async () => packages);
  const folder = temporaryFolder();
  const database = join(folder, 'actlog.db');
  const first = await startServer({ port: 0, database, docs: false, metrics: 'open' });
  const second = await startServer({ port: 0, database, docs: false, metrics: 'open' });
  onTestFinished(() => second.close());
  const servers = [first, second].map(({ url }) => Number(new URL(url).port));
  const port = await freePort();
  const { command, args, env } = start(folder, { proxy: port, servers });
  const libraries = await librariesIn(system);
  const program = spawn(join(system, command), args, {
    env: { ...process.env, LD_LIBRARY_PATH: libraries, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(program, 'exit');
  onTestFinished(async () => {
    program.kill('SIGTERM');
    await exited;
  });

  // The certificate is the test's: what it proves is not the subject here.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false, servername: 'localhost' } });
  onTestFinished(() => dispatcher.close());
  const request = (path: string, init: object = {}) =>
    fetch(`https://localhost:${port}${path}`, { ...init, dispatcher });
  await vi.waitFor(async () => expect((await request('/readyz')).status).toBe(200), {
    timeout: 30_000,
    interval: 100,
  });

  for (const path of ['/metrics', '/%6detrics'])
    expect([path, (await request(path)).status]).toEqual([path, 404]);

  const record = async () => {
    const eventId = randomUUID();
    const event = {
      eventId,
      agentId: 'agent',
      sessionId: 'session',
      sourceTimestamp: new Date().toISOString(),
      category: 'tool_api',
      schemaVersion: '1.0',
      payload: { toolName: 'read', argumentsHash: 'a'.repeat(64), responseStatus: 200 },
    };
    const response = await request('/v1/events', {
      method: 'POST',
      headers: { authorization: `Bearer ${second.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: 20 }, record));
  const stopping = first.close();
  for (let count = 0; count < 40; count += 1) statuses.push(await record());
  await stopping;
  expect(await Promise.all(Array.from({ length: 20 }, record))).toEqual(Array(20).fill(202));
  expect(statuses.filter((status) => status !== 202 && status !== mayFail)).toEqual([]);
});

test('systemd accepts the unit, and rates its isolation as good', () => {
  const folder = temporaryFolder();
  const units = join(folder, 'etc/systemd/system');
  mkdirSync(units, { recursive: true });
  writeFileSync(join(units, 'actlog.service'), read('systemd/actlog.service'));
  const program = join(folder, 'opt/actlog/node_modules/.bin/actlog');
  mkdirSync(join(program, '..'), { recursive: true });
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);
  const analyze = (...args: string[]) =>
    execFileSync('systemd-analyze', [...args, '--root', folder, 'actlog.service'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  // Units of the system are absent below the folder.
  expect(existsSync(program)).toBe(true);
  expect(analyze('verify', '--recursive-errors=no')).toBe('');
  const rating = analyze('security', '--offline=yes', '--no-pager');
  expect(Number(/exposure level for actlog\.service: ([\d.]+)/.exec(rating)?.[1])).toBeLessThan(2.5);
});

test('each manifest of Kubernetes has only fields of its kind, with their types', () => {
  const folder = join(root, 'deploy/kubernetes');
  const manifests = readdirSync(folder)
    .filter((name) => name !== 'kustomization.yaml')
    .map((name) => parse(readFileSync(join(folder, name), 'utf8')));
  const moduleOf = (change: (text: string) => string) =>
    manifests
      .map((manifest, index) => {
        const path = manifest.apiVersion.includes('/') ? manifest.apiVersion : 'v1';
        return `import type { I${manifest.kind} as Kind${index} } from 'kubernetes-models/${path}';
export const manifest${index}: Kind${index} = ${change(JSON.stringify(manifest))};`;
      })
      .join('\n');
  const misspelled = moduleOf((text) => text.replace('livenessProbe', 'livenesProbe'));
  expect(typeErrors([moduleOf((text) => text), misspelled])).toEqual([
    [],
    [expect.stringContaining('livenesProbe')],
  ]);
});

/** Returns the compiler's errors in each module, strict. */
function typeErrors(modules: readonly string[]): string[][] {
  const folder = join(import.meta.dirname, '../node_modules/.cache');
  mkdirSync(folder, { recursive: true });
  const files = modules.map((text, index) => {
    const file = join(folder, `manifests-${index}.ts`);
    writeFileSync(file, text);
    return file;
  });
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    types: [],
  });
  return files.map((file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}
