import { expect, test } from 'vitest';
import { chatTexts } from './shown-texts.ts';

test('returns the contents of the user and the developer, without those of the model and of tools', () => {
  const messages = [
    { role: 'developer', content: 'a' },
    { role: 'system', content: [{ type: 'text', text: 'b' }] },
    { role: 'user', content: 'c' },
    { role: 'assistant', content: 'd' },
    { role: 'tool', content: 'e' },
    null,
    'f',
  ];
  expect(chatTexts(messages)).toEqual({ user: ['c'], system: ['a', [{ type: 'text', text: 'b' }]] });
  expect(chatTexts('g')).toEqual({ user: [], system: [] });
});
