// Other recorders for agent frameworks, each as its own documentation registers it for a whole process. What is given
// is the framework as the agent imports it, because a second copy would hear of nothing.

import { langfuseProcessor, langsmithClient, otlpExporter, registerProvider } from './senders.mjs';

/** What installs a recorder, by adapter and recorder; each returns what makes it deliver. */
export const installers = {
  'ai-sdk': {
    async langfuse(ai, url) {
      const { LangfuseVercelAiSdkIntegration } = await import('@langfuse/vercel-ai-sdk');
      const processor = await langfuseProcessor(url);
      await registerProvider(processor);
      ai.registerTelemetry(new LangfuseVercelAiSdkIntegration());
      return () => processor.forceFlush();
    },
    async openinference(ai, url) {
      const { OpenInferenceBatchSpanProcessor } = await import('@arizeai/openinference-vercel');
      const { OpenTelemetry } = await import('@ai-sdk/otel');
      const processor = new OpenInferenceBatchSpanProcessor({ exporter: await otlpExporter(url) });
      await registerProvider(processor);
      ai.registerTelemetry(new OpenTelemetry());
      return () => processor.forceFlush();
    },
    async langsmith(ai, url) {
      process.env.LANGSMITH_TRACING = 'true';
      const client = await langsmithClient(url);
      const { LangSmithTelemetry } = await import('langsmith/experimental/vercel');
      ai.registerTelemetry(LangSmithTelemetry({ client, tracingEnabled: true }));
      return () => client.awaitPendingTraceBatches();
    },
  },
  'openai-agents': {
    async openinference(agents, url) {
      const { BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
      const { OpenAIAgentsInstrumentation } = await import(
        '@arizeai/openinference-instrumentation-openai-agents'
      );
      const processor = new BatchSpanProcessor(await otlpExporter(url));
      const instrumentation = new OpenAIAgentsInstrumentation({
        tracerProvider: await registerProvider(processor),
      });
      instrumentation.manuallyInstrument(agents);
      return () => processor.forceFlush();
    },
    async langsmith(agents, url) {
      process.env.LANGSMITH_TRACING = 'true';
      const client = await langsmithClient(url);
      const { OpenAIAgentsTracingProcessor } = await import('langsmith/wrappers/openai_agents');
      agents.setTraceProcessors([new OpenAIAgentsTracingProcessor({ client })]);
      return () => client.awaitPendingTraceBatches();
    },
  },
};
