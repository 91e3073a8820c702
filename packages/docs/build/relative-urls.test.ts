import { expect, test } from 'vitest';
import { withRelativeUrls } from './build-website.ts';
import { placeholderBase } from './stage-pages.ts';

test.each([
  ['index.html', './assets/app.js'],
  ['quick-start.html', './assets/app.js'],
  ['adapters/langchain.html', '../assets/app.js'],
  ['reference/typescript/client.html', '../../assets/app.js'],
])('%s refers to a script as %s', (file, expected) => {
  const html = `<script src="${placeholderBase}assets/app.js"></script>`;
  expect(withRelativeUrls(html, file)).toBe(`<script src="${expected}"></script>`);
});
