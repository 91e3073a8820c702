import { expect, test } from 'vitest';
import { errorText, keyOfId, messagesOf, parseMessage } from './json-rpc.ts';

test('tells ids apart that are equal as doubles, and repeats their digits', () => {
  const [one, other] = messagesOf(parseMessage('[{"id":1917043659912705297},{"id":1917043659912705298}]'));
  expect(keyOfId(one?.id)).not.toBe(keyOfId(other?.id));
  expect(keyOfId(1)).not.toBe(keyOfId('1'));
  expect(errorText(one?.id, -32600, 'No.')).toContain('"id":1917043659912705297');
});
