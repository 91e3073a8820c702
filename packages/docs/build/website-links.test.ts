import { expect, test } from 'vitest';
import { deadLinks } from './build-website.ts';

const other = { path: 'packages/client.html', text: '<h2 id="retry">Retry</h2>' };

function problemsOf(html: string): string[] {
  const page = { path: 'guide.html', text: html };
  const index = { path: 'adapters/index.html', text: '' };
  return deadLinks([page, other, index], new Set([page.path, other.path, index.path, 'assets/app.js']));
}

test('accepts links to pages, folders, anchors, files and other websites', () => {
  const hrefs = [
    './packages/client',
    './packages/client#retry',
    './adapters/',
    'assets/app.js',
    'https://cel.dev',
  ];
  expect(problemsOf(hrefs.map((href) => `<a href="${href}">x</a>`).join(''))).toEqual([]);
});

test('reports a link to a page that does not exist', () => {
  expect(problemsOf('<a href="./packages/server">x</a>')).toEqual([
    'guide.html: ./packages/server leads to no page',
  ]);
});

test('reports an anchor that no element has', () => {
  expect(problemsOf('<a href="./packages/client#retries">x</a>')).toEqual([
    'guide.html: ./packages/client#retries leads to no heading of packages/client.html',
  ]);
  expect(problemsOf('<a href="#nothing">x</a>')).toEqual([
    'guide.html: #nothing leads to no heading of guide.html',
  ]);
});
