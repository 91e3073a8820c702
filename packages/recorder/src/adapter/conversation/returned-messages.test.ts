import { expect, test } from 'vitest';
import { noteReturned, sessionOfReturned } from './conversations.ts';

const message = (content: string) => ({ role: 'assistant', content });

test('recognizes a conversation by the last message that the framework returned', () => {
  const [first, second] = [message('Hi.'), message('Done.')];
  noteReturned([], [first], 'one');
  noteReturned([first], [first, second], 'two');
  expect(sessionOfReturned([first, second, message('next')])).toBe('two');
  expect(sessionOfReturned([message('Done.')])).toBeUndefined();
});

test('does not count what the application passed itself, such as examples', () => {
  const example = message('An example.');
  noteReturned([example], [example, message('Done.')], 'one');
  expect(sessionOfReturned([example])).toBeUndefined();
});

test('does not count a message that was returned in two conversations', () => {
  const shared = message('Done.');
  noteReturned('go', [shared], 'one');
  noteReturned('go', [shared], 'two');
  expect(sessionOfReturned([shared])).toBeUndefined();
});
