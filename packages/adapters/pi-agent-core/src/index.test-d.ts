import type * as current from '@earendil-works/pi-agent-core';
import type * as former from '@mariozechner/pi-agent-core';
import { expectTypeOf, test } from 'vitest';
import { type ActlogOptions, actlog } from './index.ts';

declare const agent: current.Agent;
declare const formerAgent: former.Agent;
declare const search: current.AgentTool<{ type: 'object' }>;
declare const formerSearch: former.AgentTool;

test('an agent keeps its type, under both names of the package', () => {
  expectTypeOf(actlog(agent)).toEqualTypeOf<current.Agent>();
  expectTypeOf(actlog(formerAgent, { agentId: 'support' })).toEqualTypeOf<former.Agent>();
});

test('tools keep their types and their order', () => {
  expectTypeOf(actlog.tools([search])).toEqualTypeOf<[current.AgentTool<{ type: 'object' }>]>();
  const tools: former.AgentTool[] = [formerSearch];
  expectTypeOf(actlog.tools(tools)).toEqualTypeOf<former.AgentTool[]>();
});

test('the options are those of every adapter', () => {
  expectTypeOf<Parameters<typeof actlog>[1]>().toEqualTypeOf<ActlogOptions | undefined>();
});

test('nothing else can be covered', () => {
  // @ts-expect-error -- a tool is no agent
  actlog(search);
  // @ts-expect-error -- the agent is missing
  actlog({ agentId: 'support' });
});
