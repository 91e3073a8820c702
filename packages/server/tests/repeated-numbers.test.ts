import { expect, test } from 'vitest';
import { activityEvent, testServer } from './test-server.ts';

test.each([
  ['-0', '-0', false],
  ['-0', '0', false],
  ['1.0', '1e0', false],
  ['0', '1', true],
])('an event with %s that is repeated with %s is a different one: %s', async (first, second, isOther) => {
  const server = await testServer();
  const body = JSON.stringify(activityEvent({ category: 'note', payload: { list: [{ value: 7 }] } }));
  await server.ok('events.create', { body: body.replace(':7', `:${first}`) });
  const { warnings } = await server.ok('events.create', { body: body.replace(':7', `:${second}`) });
  expect(warnings.some(({ code }) => code === 'EVENT_ID_REUSED')).toBe(isOther);
});
