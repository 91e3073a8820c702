import { MethodHooks, processWide } from '@actlog/recorder/adapter';
import { Agent } from '@mastra/core/agent';

/** Maximum number of agents by id to remember. */
const maxAgents = 1000;

const methods = new MethodHooks('@actlog/mastra/instructions-methods');

/** Instructions that Mastra has read, as its messages or texts. */
const known = processWide('@actlog/mastra/instructions', () => ({
  /** By the request context of the run. */
  byRun: new WeakMap<object, readonly unknown[]>(),
  /** The latest by the agent's id, for tools: older versions of Mastra pass them a copy of the request context. */
  byAgent: new Map<string, readonly unknown[]>(),
}));

/**
 * Makes agents remember the instructions of a run, for argument origins, because Mastra passes them to no hook. They
 * are taken from the method with which it reads them, so that the user's own function for them is not called again.
 */
export function hookInstructions(): void {
  methods.hook(Agent.prototype, 'getInstructions', (agent: Agent, getInstructions, args) => {
    const instructions = getInstructions.apply(agent, args);
    const { requestContext } = (args[0] ?? {}) as { readonly requestContext?: unknown };
    void note(agent.id, requestContext, instructions);
    return instructions;
  });
}

/** Returns the instructions of an agent's run. */
export function instructionsOf(
  agentId: string | undefined,
  requestContext: object | undefined,
): readonly unknown[] {
  const { byRun, byAgent } = known();
  return (requestContext && byRun.get(requestContext)) ?? byAgent.get(agentId ?? '') ?? [];
}

async function note(agentId: string, requestContext: unknown, instructions: unknown): Promise<void> {
  const { byRun, byAgent } = known();
  try {
    const read: unknown[] = [await instructions].flat();
    if (typeof requestContext === 'object' && requestContext !== null)
      byRun.set(requestContext, [...(byRun.get(requestContext) ?? []), ...read]);
    byAgent.set(agentId, read);
    const [oldest] = byAgent.keys();
    if (byAgent.size > maxAgents && oldest !== undefined) byAgent.delete(oldest);
  } catch {
    // The user's function failed, and with it the run.
  }
}
