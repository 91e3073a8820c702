import type { AdapterHarness } from '../../testing/adapter-suite/src/index.ts';

/** An installed recorder of another vendor. */
export interface InstalledPeer {
  /** Resolves when everything that it recorded is delivered. */
  readonly deliver: () => Promise<unknown>;
  /** Wraps a model client, for recorders that work like this. */
  readonly wrap?: <Client extends object>(client: Client) => Client;
  /** Exporter for the framework, for recorders that work like this. */
  readonly exporter?: object;
}

/** A framework for which other recorders have adapters. */
interface Framework {
  /** Part of the name of our hook to compare with. */
  readonly hook: string;
  readonly peers: readonly string[];
  /** The framework as the agent imports it, for recorders that hook it. */
  readonly load?: () => Promise<object>;
  /** Keeps the framework's own tracing from connecting to its service. */
  readonly silence?: (framework: { setTraceProcessors(processors: never[]): void }) => void;
  /** Returns the same agent with a recorder passed to it. */
  readonly agentWith?: (peer: InstalledPeer) => Promise<AdapterHarness['run']>;
}

/**
 * Frameworks by the names of our adapters; for LangChain see `npm run bench -- recorder langchain`. Omits recorders that
 * miss calls made by the framework's own loop; docs/comparison.md names them.
 */
export const frameworks: Readonly<Record<string, Framework>> = {
  'ai-sdk': {
    load: () => import('ai'),
    hook: 'tools: actlog',
    peers: ['langfuse', 'openinference', 'langsmith'],
  },
  'openai-agents': {
    load: () => import('@openai/agents'),
    hook: 'actlog(agent)',
    peers: ['openinference', 'langsmith'],
    silence: ({ setTraceProcessors }) => setTraceProcessors([]),
  },
  openai: {
    hook: 'runTools',
    peers: ['openinference'],
    agentWith: async ({ wrap }) => {
      const { ended, runTools } = await import('../../packages/adapters/openai/tests/harness.ts');
      return (scenario) => ended(scenario, (client, given) => runTools(wrap?.(client) ?? client, given));
    },
  },
  anthropic: {
    hook: 'tools: actlog(tools)',
    peers: ['openinference'],
    agentWith: async ({ wrap }) => {
      const { ended, toolRunner } = await import('../../packages/adapters/anthropic/tests/harness.ts');
      return (scenario) =>
        ended(scenario, [], (client, given) => toolRunner(wrap?.(client) ?? client, given));
    },
  },
  mastra: {
    hook: 'hooks: actlog()',
    peers: ['langfuse', 'openinference', 'langsmith'],
    agentWith: async ({ exporter }) => {
      const { harnessOf } = await import('../../packages/adapters/mastra/tests/harness.ts');
      const { run } = harnessOf('a peer', () => ({ exporters: [exporter as never] }), {});
      return (scenario) => run({ ...scenario, adapter: {} });
    },
  },
  'google-adk': { hook: 'plugins', peers: ['langfuse'] },
  strands: { hook: 'interventions', peers: ['langfuse'] },
};
