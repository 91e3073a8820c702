import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { DocsSite } from '@actlog/docs';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { mountDocs } from './operations.ts';

const html = '<!doctype html><title>Quick start</title>';

/** Starts a server with a site of one page. */
async function docsServer(load: () => Promise<DocsSite | undefined> = smallSite): Promise<string> {
  const app = fastify();
  mountDocs(app, load);
  onTestFinished(() => app.close());
  return app.listen({ host: '127.0.0.1', port: 0 });
}

async function smallSite(): Promise<DocsSite> {
  const folder = await mkdtemp(join(tmpdir(), 'actlog-docs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'scripts.json'), '["\'sha256-abc=\'"]');
  await writeFile(join(folder, 'quick-start.html.gz'), gzipSync(html));
  return DocsSite.read(pathToFileURL(`${folder}/`));
}

test('serves a page compressed, with a policy that allows its inline scripts by their hashes', async () => {
  const url = await docsServer();
  const response = await fetch(`${url}/docs/quick-start`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self' 'sha256-abc='");
  expect(await response.text()).toBe(html);
});

test.each(['identity', 'br', 'gzip;q=0'])(
  'serves a page uncompressed to a client that accepts %s',
  async (encoding) => {
    const url = await docsServer();
    const response = await fetch(`${url}/docs/quick-start`, { headers: { 'accept-encoding': encoding } });
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(await response.text()).toBe(html);
  },
);

test('returns 304 to a client that has the page', async () => {
  const url = await docsServer();
  const etag = (await fetch(`${url}/docs/quick-start`)).headers.get('etag') ?? '';
  const again = await fetch(`${url}/docs/quick-start`, {
    headers: { 'if-none-match': `"other", W/${etag}` },
  });
  expect([again.status, await again.text()]).toEqual([304, '']);
  const changed = await fetch(`${url}/docs/quick-start`, { headers: { 'if-none-match': '"other"' } });
  expect(changed.status).toBe(200);
});

test('returns 404 with a link to the documentation for an unknown page', async () => {
  const url = await docsServer();
  const response = await fetch(`${url}/docs/guides/nothing`);
  expect(response.status).toBe(404);
  expect(await response.text()).toContain('<a href="../">');
});

test.each(['../package.json', '..%2f..%2fpackage.json', '__proto__'])(
  'returns 404 for the path %s',
  async (path) => {
    const url = await docsServer();
    expect((await fetch(`${url}/docs/${path}`)).status).toBe(404);
  },
);

test('says how to get the documentation if its package is not installed', async () => {
  const url = await docsServer(async () => undefined);
  const response = await fetch(`${url}/docs`);
  expect(response.status).toBe(404);
  expect(await response.text()).toMatch(/^The documentation is in the package @actlog\/docs: install it/);
});
