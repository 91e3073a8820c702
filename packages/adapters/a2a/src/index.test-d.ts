import type { Client } from '@a2a-js/sdk/client';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { expectTypeOf, test } from 'vitest';
import { actlog } from './index.ts';

declare const client: Client;
declare const executor: AgentExecutor;

test('what it is given keeps its type', () => {
  expectTypeOf(actlog(client)).toEqualTypeOf<Client>();
  expectTypeOf(actlog(executor, { name: 'recipes' })).toEqualTypeOf<AgentExecutor>();
});

test('what is neither client nor executor is refused', () => {
  // @ts-expect-error -- options have their own place
  actlog({ guard: { mode: 'off' } });
  // @ts-expect-error -- a name is a string
  actlog(client, { name: 5 });
});
