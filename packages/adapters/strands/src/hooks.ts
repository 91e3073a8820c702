import type { Method } from '@actlog/recorder/adapter';
import { Agent } from '@strands-agents/sdk';
import { beginCoverage } from './covered-agents.ts';
import { hookDirectCalls } from './direct-calls.ts';
import { hookedMethods } from './hooked-methods.ts';
import { hookOrchestrators } from './orchestrators.ts';

/** Hooks the classes of Strands, each once in the process. */
export function hookStrands(): void {
  // Every run of an agent begins with this method, before any of its hooks.
  hookedMethods.hook(
    Agent.prototype,
    'initialize',
    (agent: Agent, initialize: Method<Promise<void>>, args) => {
      beginCoverage(agent);
      return initialize.apply(agent, args);
    },
  );
  hookDirectCalls();
  hookOrchestrators();
}
