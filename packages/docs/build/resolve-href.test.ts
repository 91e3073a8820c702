import { expect, test } from 'vitest';
import { resolveHref } from './site-links.ts';

const guide = { source: 'docs/self-hosting.md', page: 'operate/self-hosting.md' };
const readme = { source: 'packages/adapters/langchain/README.md', page: 'adapters/langchain.md' };

test.each([
  ['a guide from a guide', './risk.md#how-to-read-a-score', guide, '../guides/risk.md#how-to-read-a-score'],
  ['a README from a guide', '../packages/server/README.md#limits', guide, '../packages/server.md#limits'],
  [
    'a guide on the forge from a README',
    'https://github.com/actlog/actlog/blob/main/docs/adapters.md#one-chat-one-session',
    readme,
    './index.md#one-chat-one-session',
  ],
  [
    'a package folder on the forge',
    'https://github.com/actlog/actlog/tree/main/packages/policy#cost',
    readme,
    '../packages/policy.md#cost',
  ],
  ['the repository README', '../README.md', guide, '../index.md'],
  ['a place on the same page', '#quotas', guide, '#quotas'],
  ['another website', 'https://cel.dev', guide, 'https://cel.dev'],
])('%s leads to a page of the site', (_what, href, place, expected) => {
  expect(resolveHref(href, place)).toBe(expected);
});

test.each([
  ['../CONTRIBUTING.md', 'https://github.com/actlog/actlog/blob/main/CONTRIBUTING.md'],
  [
    'https://github.com/actlog/actlog/tree/main/examples',
    'https://github.com/actlog/actlog/tree/main/examples',
  ],
])('%s has no page and leads to the forge', (href, expected) => {
  expect(resolveHref(href, guide)).toBe(expected);
});

test('rejects a link to a file that the repository does not have', () => {
  expect(() => resolveHref('./self-hosted.md', guide)).toThrow(/leads to docs\/self-hosted\.md, which/);
  const moved = 'https://github.com/actlog/actlog/tree/main/examples/removed';
  expect(() => resolveHref(moved, guide)).toThrow(/leads to examples\/removed, which/);
});
