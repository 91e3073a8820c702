import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { consoleSite } from './index.ts';

test('the page refers to its files by relative URLs and runs only its own script', async () => {
  const files = await consoleSite();
  const page = files['index.html']?.body ?? '';
  const named = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, name]) => name);
  const withoutHash = named.map((name) => name?.replace(/-[0-9A-Z]{8}\./, '-HASH.'));
  expect([...new Set(withoutHash)].toSorted()).toEqual([
    'actlog.webmanifest',
    'chunk-HASH.js',
    'console-HASH.js',
    'early-HASH.js',
    'icon.svg',
    'style-HASH.css',
  ]);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(named as string[]));
  expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=/);
});

test('no file loads from elsewhere or contains code of a Node module', async () => {
  for (const [name, { body }] of Object.entries(await consoleSite())) {
    if (name === 'licenses.txt') continue;
    expect([name, /@import|url\(\s*["']?https?:|from\s*["'](node:|undici)/.exec(body)]).toEqual([name, null]);
  }
});

test('contains the license notices of bundled packages', async () => {
  const { body = '' } = (await consoleSite())['licenses.txt'] ?? {};
  expect(body).toMatch(/^preact \d/m);
});

test('a second call returns the cached files', async () => {
  expect(consoleSite()).toBe(consoleSite());
});

/** Maximum bytes of the first visit, compressed by gzip, which every browser accepts over plain HTTP too. */
const maxFirstLoadBytes = 60_000;

test('the first visit loads at most 60 kB', async () => {
  const files = await consoleSite();
  const loaded = new Set<string>(['index.html']);
  for (const name of loaded) {
    const body = files[name]?.body ?? '';
    const named = name.endsWith('.html')
      ? body.matchAll(/(?:src|href)="([^"]+)"/g)
      : body.matchAll(/(?:from|import)"\.\/([^"]+)"/g);
    for (const [, file = ''] of named) loaded.add(file);
  }
  expect(loaded.size).toBeGreaterThan(3);
  expect(loaded.size).toBeLessThan(Object.keys(files).length);
  const sum = [...loaded].reduce((bytes, name) => bytes + (files[name]?.compressed.gzip.length ?? 0), 0);
  expect(sum).toBeLessThan(maxFirstLoadBytes);
});

test('compressed bodies are those of the files', async () => {
  for (const { body, compressed } of Object.values(await consoleSite())) {
    expect(gunzipSync(compressed.gzip).toString()).toBe(body);
    expect(brotliDecompressSync(compressed.br).toString()).toBe(body);
    expect(compressed.br.length).toBeLessThan(compressed.gzip.length);
  }
});

test('only files whose name has the hash of their content are cached without revalidation', async () => {
  const files = Object.entries(await consoleSite());
  const immutable = files.filter(([, { cacheControl }]) => cacheControl.includes('immutable'));
  const others = files.filter((file) => !immutable.includes(file));
  expect(others.map(([name]) => name).toSorted()).toEqual([
    'actlog.webmanifest',
    'icon.svg',
    'index.html',
    'licenses.txt',
    'service-worker.js',
  ]);
  for (const [name] of immutable) expect(name).toMatch(/-[0-9A-Z]{8}\.(?:js|css)$/);
  expect(new Set(files.map(([, { etag }]) => etag)).size).toBe(files.length);
});
