import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

test('a download saves every byte of a session that is larger than a response may be', async () => {
  const server = await ConsoleServer.create();
  const text = 'x'.repeat(200_000);
  await server.recordMany(
    Array.from({ length: 350 }, (_, number) => ({
      sessionId: 'chat',
      category: 'notes',
      payload: { number, text },
    })),
  );
  const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/chat');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download JSON' }).click();
  const bytes = await readFile(await (await download).path());
  expect(bytes.length).toBeGreaterThan(64 * 1024 * 1024);
  expect(JSON.parse(bytes.toString())).toMatchObject({ exportVersion: '1.0', eventCount: 350 });
});
