import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endpoints } from '@actlog/protocol';
import { describe, expect, onTestFinished, test } from 'vitest';
import { accessibilityFaults, openDocs, serverUrl, useDocsServer } from './docs-browser.ts';

const pages = [
  '',
  'start/quick-start',
  'adapters/langchain',
  'reference/http/policies-and-checks',
  'reference/typescript/@actlog/client-records',
  'compare/comparison',
];

/** Starts a proxy that serves the server below a path of its own, and returns that address. */
async function proxyBelow(prefix: string): Promise<string> {
  const proxy = createServer(async ({ url = '' }, response) => {
    const upstream = await fetch(serverUrl() + url.replace(prefix, ''), { redirect: 'manual' });
    const headers = Object.fromEntries(upstream.headers);
    delete headers['content-encoding'];
    delete headers['content-length'];
    response.writeHead(upstream.status, headers).end(Buffer.from(await upstream.arrayBuffer()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`;
}

describe('pages in a browser', () => {
  useDocsServer();

  test.each(['light', 'dark'] as const)(
    'are accessible in %s on a phone and on a desktop',
    async (colorScheme) => {
      for (const width of [390, 1440]) {
        for (const path of pages) {
          const page = await openDocs(path, { colorScheme, viewport: { width, height: 900 } });
          expect([path, width, await accessibilityFaults(page)]).toEqual([path, width, []]);
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          expect([path, width, overflow]).toEqual([path, width, 0]);
        }
      }
    },
  );

  test('work below any path of a proxy, also after a change of page without a load', async () => {
    const url = await proxyBelow('/tools/actlog');
    const page = await openDocs('adapters/langchain', { url, viewport: { width: 1440, height: 900 } });
    await page.getByRole('link', { name: 'Quick start', exact: true }).click();
    await page.waitForURL('**/tools/actlog/docs/start/quick-start');
    await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor();
    await page.getByRole('link', { name: 'Reference', exact: true }).click();
    await page.waitForURL('**/tools/actlog/docs/reference/command-line');
    await page.getByRole('heading', { level: 1, name: 'The command actlog' }).waitFor();
  });

  test('llms.txt names every guide, as Markdown with working links', async () => {
    const list = await fetch(`${serverUrl()}/docs/llms.txt`);
    expect(list.headers.get('content-type')).toMatch(/^text\/plain/);
    const links = [...(await list.text()).matchAll(/^- \[[^\]\n]+\]\(([^)]+)\)/gm)].map(
      ([, link = '']) => link,
    );
    expect(links).toEqual(expect.arrayContaining(['start/quick-start.md', 'adapters/langchain.md']));
    for (const link of links) {
      const url = new URL(link, `${serverUrl()}/docs/`);
      const response = await fetch(url);
      expect([link, response.status, response.headers.get('content-type')]).toEqual([
        link,
        200,
        'text/markdown; charset=utf-8',
      ]);
      const text = await response.text();
      expect(text).toMatch(/^# /);
      for (const [, href = ''] of text.matchAll(/\]\((\.[^)#\s]+)/g)) {
        const target = await fetch(new URL(href, url), { method: 'HEAD' });
        expect([link, href, target.status]).toEqual([link, href, 200]);
      }
    }
  });

  test('the home page has the snippets of the README', async () => {
    const page = await openDocs('');
    await page.getByText('middleware: [actlog()]').waitFor();
    await page.getByText('npx actlog serve').first().waitFor();
    await page.getByText('client.sessions.list()').waitFor();
  });
});

describe('the API reference', () => {
  useDocsServer();

  test('describes every endpoint on a static page', async () => {
    const paths = ['events', 'sessions', 'agents', 'policies-and-checks', 'held-actions', 'webhooks'];
    const texts = await Promise.all(
      paths.map(async (path) => (await fetch(`${serverUrl()}/docs/reference/http/${path}`)).text()),
    );
    const missing = Object.values(endpoints)
      .map(({ method, path }) => `<code>${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}</code>`)
      .filter((endpoint) => !texts.some((text) => text.includes(endpoint)));
    expect(missing).toEqual([]);
  });

  test('needs no eval, and runs inline scripts by their hashes only', async () => {
    const policy = (await fetch(`${serverUrl()}/docs/`)).headers.get('content-security-policy') ?? '';
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1]?.split(' ') ?? [];
    expect(scripts.length).toBeGreaterThan(1);
    expect(scripts.filter((source) => source !== "'self'" && !source.startsWith("'sha256-"))).toEqual([]);
  });
});
