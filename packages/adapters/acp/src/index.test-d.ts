import { type AgentApp, agent, type ClientApp, client, type Stream } from '@agentclientprotocol/sdk';
import { expectTypeOf, test } from 'vitest';
import { actlog } from './index.ts';

declare const stream: Stream;

test('what it is given keeps its type', () => {
  expectTypeOf(actlog(client())).toEqualTypeOf<ClientApp>();
  expectTypeOf(actlog(agent(), { allowWithoutAsking: true })).toEqualTypeOf<AgentApp>();
  expectTypeOf(actlog(stream)).toEqualTypeOf<Stream>();
});

test('what is neither an app nor a stream is refused', () => {
  // @ts-expect-error -- options have their own place
  actlog({ guard: { mode: 'off' } });
});
