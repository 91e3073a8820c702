import { expect, test } from 'vitest';
import { toolContent } from './shown-texts.ts';

const text = (value: string) => ({ type: 'text', text: value });

test.each([
  ['the text of a single block', { content: [text('sent')] }, 'sent'],
  ['a text that is JSON as its value', { content: [text(' {"id":7}')] }, { id: 7 }],
  ['a text that only looks like JSON', { content: [text('[sic] no')] }, '[sic] no'],
  ['several texts', { content: [text('a'), text('b')], isError: true }, ['a', 'b']],
  [
    'texts and structured content',
    { content: [text('one user')], structuredContent: { id: 7 } },
    ['one user', { id: 7 }],
  ],
  ['structured content alone', { content: [], structuredContent: { id: 7 } }, { id: 7 }],
  ['blocks without a result around them', [text('a')], 'a'],
  [
    'resources without pictures',
    {
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
        { type: 'resource_link', uri: 'file:///b', name: 'b' },
      ],
    },
    ['inside', { uri: 'file:///b', name: 'b' }],
  ],
])('returns %s', (_, result, shown) => {
  expect(toolContent(result)).toEqual(shown);
});

test.each([
  ['text'],
  [7],
  [undefined],
  [null],
  [{ id: 7 }],
  [{ content: 'text' }],
  [{ content: [{ id: 7 }] }],
])('returns another result unchanged: %j', (result) => {
  expect(toolContent(result)).toBe(result);
});
