import { expect, test } from 'vitest';
import { testServer } from './test-server.ts';

/** Largest page of a list, in bytes: a mebibyte of stored content, and the names of its fields. */
const maxPageBytes = 2 * 1024 * 1024;

test('bounds a page of decisions in bytes, also those without arguments', async () => {
  const server = await testServer();
  const description = { effect: 'deny', mode: 'log_only' } as const;
  for (let count = 0; count < 150; count += 1) await server.policy(description);
  for (let count = 0; count < 120; count += 1) await server.check({ sessionId: `s-${count}` });
  const seen = new Set<string>();
  let pages = 0;
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const response = await fetch(`${server.server.url}/server/v1/decisions?limit=200${query}`, {
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
    const text = await response.text();
    expect(text.length).toBeLessThan(maxPageBytes);
    const page = JSON.parse(text) as { items: { id: string }[]; nextCursor: string | null };
    expect(page.items.length).toBeGreaterThan(0);
    for (const { id } of page.items) seen.add(id);
    pages += 1;
    cursor = page.nextCursor;
  }
  expect(seen.size).toBe(120);
  expect(pages).toBeGreaterThan(1);
});
