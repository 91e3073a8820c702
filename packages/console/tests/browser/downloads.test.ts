import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Download, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../server/tests/test-end.ts';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab, insecureAddress } from './console-tab.ts';

/** Bytes of an event's text, slightly less than a body may have. */
const textBytes = 200_000;

/** Starts a server with a session of large events. */
async function serverWithEvents(count: number): Promise<ConsoleServer> {
  const server = await ConsoleServer.create();
  const text = 'x'.repeat(textBytes);
  await server.recordMany(
    Array.from({ length: count }, (_, number) => ({
      sessionId: 'chat',
      category: 'notes',
      payload: { number, text },
    })),
  );
  return server;
}

/** Starts a proxy that sends the beginning of each export, and leaves the rest to the test. */
async function haltingProxy(url: string): Promise<{ url: string; halted: ServerResponse[] }> {
  const halted: ServerResponse[] = [];
  const proxy = createServer((request, response) => {
    const { method, headers } = request;
    const forwarded = send(`${url}${request.url}`, { method, headers }, async (upstream) => {
      const { 'transfer-encoding': _chunked, ...passedOn } = upstream.headers;
      response.writeHead(upstream.statusCode ?? 500, passedOn);
      if (!request.url?.endsWith('/export.json')) return upstream.pipe(response);
      const [piece] = await once(upstream, 'data');
      upstream.destroy();
      response.write(piece);
      halted.push(response);
    });
    forwarded.on('error', () => {});
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  atTestEnd(async () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, halted };
}

async function bytesOf(download: Download): Promise<Buffer> {
  return readFile(await download.path());
}

/** Collects the downloads of a page. */
function savedBy(page: Page): Download[] {
  const saved: Download[] = [];
  page.on('download', (download) => saved.push(download));
  return saved;
}

describe('download of a session', () => {
  test('saves every byte', async () => {
    const server = await serverWithEvents(20);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/chat');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download JSON' }).click();
    const bytes = await bytesOf(await download);
    expect(bytes.length).toBeGreaterThan(20 * textBytes);
    expect(JSON.parse(bytes.toString())).toMatchObject({ exportVersion: '1.0', eventCount: 20 });
    await page.getByRole('button', { name: 'Download JSON' }).waitFor();
    expect(await page.getByRole('progressbar').count()).toBe(0);
  });

  test('works over plain HTTP, where browsers cannot hash', async () => {
    const server = await serverWithEvents(1);
    const url = insecureAddress(server.server.url);
    const { page } = await ConsoleTab.open(url, server.apiKey, '/sessions/chat');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download JSON' }).click();
    expect((await download).suggestedFilename()).toBe('chat.json');
  });

  test.each([
    ['the connection breaks', (response: ServerResponse) => response.destroy()],
    ['it is cut and looks whole', (response: ServerResponse) => response.end()],
  ])('leaves no file behind when %s', async (_how, end) => {
    const server = await serverWithEvents(3);
    const { url, halted } = await haltingProxy(server.server.url);
    const { page } = await ConsoleTab.open(url, server.apiKey, '/sessions/chat');
    const saved = savedBy(page);
    await page.getByRole('button', { name: 'Download JSON' }).click();
    const alert = page.locator('dd').getByRole('alert');
    await expect
      .poll(async () => {
        for (const response of halted.splice(0)) end(response);
        return alert.count();
      })
      .toBe(1);
    await expect
      .poll(() => alert.textContent())
      .toMatch(/^(The service cannot be reached|.*Export the session again)/);
    expect(saved).toEqual([]);
    await page.getByRole('button', { name: 'Download JSON' }).waitFor();
  });

  test('can be canceled, also by leaving the page', async () => {
    const server = await serverWithEvents(3);
    const { url, halted } = await haltingProxy(server.server.url);
    const tab = await ConsoleTab.open(url, server.apiKey, '/sessions/chat');
    const { page } = tab;
    const saved = savedBy(page);
    // A browser may end a request before it has sent it, which nobody would see.
    const begun = async () => {
      await expect.poll(() => halted.length).toBe(1);
      const [response] = halted.splice(0) as [ServerResponse];
      return { closed: once(response, 'close') };
    };
    await page.getByRole('button', { name: 'Download JSON' }).dblclick();
    const cancelled = await begun();
    await page.getByRole('progressbar', { name: 'Download' }).waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await cancelled.closed;
    await page.getByRole('button', { name: 'Download JSON' }).click();
    const left = await begun();
    await page.getByRole('progressbar', { name: 'Download' }).waitFor();
    await tab.go('/agents');
    await left.closed;
    expect(saved).toEqual([]);
  });
});
