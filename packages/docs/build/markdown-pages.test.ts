import { expect, test } from 'vitest';
import { beginningOf } from './build-website.ts';

test.each([
  ['a paragraph', '# Run `it`\n\nIt runs. Then it\nends.', 'Run it', 'It runs.'],
  [
    'a link and a line break',
    '# A\n\nSee [the\npage](./b.md) for\nmore: it is',
    'A',
    'See the page for more.',
  ],
  ['a table', '# A\n\n| a |\n|---|', 'A', ''],
  ['a heading', '# A\n\n## B\n\nText.', 'A', ''],
])('the list describes a page by %s', (_name, markdown, title, summary) => {
  expect(beginningOf(markdown)).toEqual({ title, summary });
});
