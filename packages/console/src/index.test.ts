import { expect, test } from 'vitest';
import { consoleSite } from './index.ts';

test('the page names its files relatively, and runs no script but its own', async () => {
  const files = await consoleSite();
  const page = files['index.html']?.body ?? '';
  const named = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(['console.js', 'icon.svg', 'style.css']);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(named as string[]));
  expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=/);
});

test('no file fetches from elsewhere, and none holds the code of a module of Node', async () => {
  for (const [name, { body }] of Object.entries(await consoleSite())) {
    if (name === 'licences.txt') continue;
    expect([name, /@import|url\(\s*["']?https?:|from\s*["'](node:|undici)/.exec(body)]).toEqual([name, null]);
  }
});

test('the notices of what is passed on with the page are there', async () => {
  const { body = '' } = (await consoleSite())['licences.txt'] ?? {};
  expect(body).toMatch(/^preact \d/m);
  expect(body).toMatch(/^p-retry \d/m);
});

test('a second call reads nothing again', async () => {
  expect(consoleSite()).toBe(consoleSite());
});
