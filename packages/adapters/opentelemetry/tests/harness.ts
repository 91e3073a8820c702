import type { AdapterHarness } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { version } from '../src/actlog.ts';
import { actlog } from '../src/index.ts';
import { InstrumentedAgent } from './instrumented-agent.ts';

/** A span processor of the user. */
function ownProcessor(hear: (toolName: string) => void): SpanProcessor {
  return {
    onStart() {},
    onEnd({ attributes }) {
      const toolName = attributes['gen_ai.tool.name'];
      if (typeof toolName === 'string') hear(toolName);
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
}

/** Agents that emit spans according to OpenTelemetry's conventions for GenAI. */
export const openTelemetryHarness: AdapterHarness = {
  hook: '`spanProcessors: [actlog()]`',
  framework: 'opentelemetry',
  sdk: `@actlog/opentelemetry/${version}`,
  abilities: {
    ...fullAbilities,
    guards: false,
    holds: false,
    aborts: false,
    invalidArguments: 'unseen',
    knowsReached: false,
    unknownTool: 'unseen',
    thrown: 500,
    streams: false,
    goesOnAfterDenial: false,
    origins: { user: true, system: true, results: true },
  },
  async run(scenario) {
    const { adapter, isInstalledTwice, ownHook, tools } = scenario;
    const provider = new BasicTracerProvider({
      spanProcessors: [
        ...(adapter ? [actlog({ ...adapter, guard: undefined })] : []),
        ...(adapter && isInstalledTwice ? [actlog({ ...adapter, guard: undefined })] : []),
        ...(ownHook ? [ownProcessor(ownHook)] : []),
      ],
    });
    return new InstrumentedAgent(provider.getTracer('tests'), tools).run(scenario);
  },
};
