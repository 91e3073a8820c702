import { expect, test } from 'vitest';
import { consoleSite } from './index.ts';

test('the page refers to its files by relative URLs and runs only its own script', async () => {
  const files = await consoleSite();
  const page = files['index.html']?.body ?? '';
  const named = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(['console.js', 'icon.svg', 'style.css']);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(named as string[]));
  expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=/);
});

test('no file loads from elsewhere or contains code of a Node module', async () => {
  for (const [name, { body }] of Object.entries(await consoleSite())) {
    if (name === 'licences.txt') continue;
    expect([name, /@import|url\(\s*["']?https?:|from\s*["'](node:|undici)/.exec(body)]).toEqual([name, null]);
  }
});

test('contains the licence notices of bundled packages', async () => {
  const { body = '' } = (await consoleSite())['licences.txt'] ?? {};
  expect(body).toMatch(/^preact \d/m);
  expect(body).toMatch(/^p-retry \d/m);
});

test('a second call returns the cached files', async () => {
  expect(consoleSite()).toBe(consoleSite());
});
