import { type Method, stepwise } from '@actlog/recorder/adapter';
import { Graph, type LocalAgent, Swarm } from '@strands-agents/sdk';
import { callsAround, processCoverage } from './coverage.ts';
import { callsOf, coverAgent, isLocalAgent } from './covered-agents.ts';
import { hookedMethods } from './hooked-methods.ts';
import { inSession, sessionOfRun } from './orchestrator-runs.ts';
import { noteInput, noteNodes } from './shown-texts.ts';

type Stream = AsyncGenerator<unknown, unknown, undefined>;

/** An orchestrator of agents: a swarm, a graph, or a nested one. */
interface Orchestrator {
  readonly id?: unknown;
  readonly nodes: ReadonlyMap<string, { readonly agent?: unknown; readonly orchestrator?: unknown }>;
}

/**
 * Makes a swarm or graph cover all its agents like its first covered one, before any of them runs. They hand over to
 * each other without calling hooks.
 */
export function hookOrchestrators(): void {
  for (const { prototype } of [Swarm, Graph]) {
    hookedMethods.hook(
      prototype,
      'initialize',
      (orchestrator: Orchestrator, initialize: Method<Promise<void>>) => {
        coverNodes(orchestrator);
        return initialize.call(orchestrator);
      },
    );
    hookedMethods.hook(prototype, 'stream', (orchestrator: Orchestrator, stream: Method<Stream>, args) => {
      const sessionId = sessionOfRun(orchestrator, args[0]);
      inSession(sessionId, () => noteRun(orchestrator, args[0]));
      return stepwise(stream.apply(orchestrator, args), (step) => inSession(sessionId, step));
    });
  }
}

function coverNodes(orchestrator: Orchestrator): void {
  const agents = [...agentsOf(orchestrator)];
  const calls = agents.map(callsOf).find((known) => known !== undefined);
  if (calls) for (const agent of agents) coverAgent(agent, calls);
}

/** Notes the input of a run for argument origins, which reaches the nodes together with what models wrote. */
function noteRun(orchestrator: Orchestrator, input: unknown): void {
  const agents = [...agentsOf(orchestrator)];
  const all = [...agents.map(callsOf), callsAround(), processCoverage.current];
  const calls = all.find((known) => known?.tracesOrigins);
  if (!calls) return;
  noteNodes(agents);
  noteNodes(orchestratorsIn(orchestrator));
  noteInput(orchestrator, input, agents, calls);
}

function* orchestratorsIn({ nodes }: Orchestrator): Generator<Orchestrator> {
  for (const { orchestrator } of nodes.values()) {
    if (!isOrchestrator(orchestrator)) continue;
    yield orchestrator;
    yield* orchestratorsIn(orchestrator);
  }
}

function* agentsOf({ nodes }: Orchestrator): Generator<LocalAgent> {
  for (const { agent, orchestrator } of nodes.values()) {
    if (isLocalAgent(agent)) yield agent;
    if (isOrchestrator(orchestrator)) yield* agentsOf(orchestrator);
  }
}

function isOrchestrator(value: unknown): value is Orchestrator {
  return (value as Partial<Orchestrator> | undefined)?.nodes instanceof Map;
}
