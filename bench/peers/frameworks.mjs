// Other recorders for agent frameworks, each registered for a whole process as its documentation shows. The argument is
// the framework as the agent imports it, because hooks on a second copy would never be called.

import { langfuseProcessor, langsmithClient, otlpExporter, registerProvider } from './senders.mjs';

/** An OpenInference instrumentation of a client's class, installed with the first client. */
async function openInferenceOf(Instrumentation, url) {
  const { BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
  const processor = new BatchSpanProcessor(await otlpExporter(url));
  const instrumentation = new Instrumentation({ tracerProvider: await registerProvider(processor) });
  let isInstrumented = false;
  const wrap = (client) => {
    if (!isInstrumented) instrumentation.manuallyInstrument(client.constructor);
    isInstrumented = true;
    return client;
  };
  return { wrap, deliver: () => processor.forceFlush() };
}

/** Installers for frameworks that create OpenTelemetry spans themselves. */
async function langfuseOfSpans(_framework, url) {
  const processor = await langfuseProcessor(url);
  await registerProvider(processor);
  return { deliver: () => processor.forceFlush() };
}

/** One Mastra exporter for the whole process, because a benchmark creates many Mastra instances. */
function exporterOf(exporter) {
  const init = exporter.init?.bind(exporter);
  let isInitialized = false;
  exporter.init = (options) => {
    if (!isInitialized) init?.(options);
    isInitialized = true;
  };
  return { exporter, deliver: () => exporter.flush() };
}

/**
 * Functions that install a recorder, by adapter and recorder. Each returns a function that delivers, and the object to
 * pass to the agent if needed: a wrapper for clients, or an exporter.
 */
export const installers = {
  'ai-sdk': {
    async langfuse(ai, url) {
      const { LangfuseVercelAiSdkIntegration } = await import('@langfuse/vercel-ai-sdk');
      const processor = await langfuseProcessor(url);
      await registerProvider(processor);
      ai.registerTelemetry(new LangfuseVercelAiSdkIntegration());
      return { deliver: () => processor.forceFlush() };
    },
    async openinference(ai, url) {
      const { OpenInferenceBatchSpanProcessor } = await import('@arizeai/openinference-vercel');
      const { OpenTelemetry } = await import('@ai-sdk/otel');
      const processor = new OpenInferenceBatchSpanProcessor({ exporter: await otlpExporter(url) });
      await registerProvider(processor);
      ai.registerTelemetry(new OpenTelemetry());
      return { deliver: () => processor.forceFlush() };
    },
    async langsmith(ai, url) {
      process.env.LANGSMITH_TRACING = 'true';
      const client = await langsmithClient(url);
      const { LangSmithTelemetry } = await import('langsmith/experimental/vercel');
      ai.registerTelemetry(LangSmithTelemetry({ client, tracingEnabled: true }));
      return { deliver: () => client.awaitPendingTraceBatches() };
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
      return { deliver: () => processor.forceFlush() };
    },
    async langsmith(agents, url) {
      process.env.LANGSMITH_TRACING = 'true';
      const client = await langsmithClient(url);
      const { OpenAIAgentsTracingProcessor } = await import('langsmith/wrappers/openai_agents');
      agents.setTraceProcessors([new OpenAIAgentsTracingProcessor({ client })]);
      return { deliver: () => client.awaitPendingTraceBatches() };
    },
  },
  openai: {
    async openinference(_framework, url) {
      const { OpenAIInstrumentation } = await import('@arizeai/openinference-instrumentation-openai');
      return openInferenceOf(OpenAIInstrumentation, url);
    },
  },
  anthropic: {
    async openinference(_framework, url) {
      const { AnthropicInstrumentation } = await import('@arizeai/openinference-instrumentation-anthropic');
      return openInferenceOf(AnthropicInstrumentation, url);
    },
  },
  mastra: {
    async langfuse(_framework, url) {
      const { LangfuseExporter } = await import('@mastra/langfuse');
      const keys = { publicKey: 'pk-lf-benchmark', secretKey: 'sk-lf-benchmark' };
      return exporterOf(new LangfuseExporter({ ...keys, baseUrl: url }));
    },
    async openinference(_framework, url) {
      const { ArizeExporter } = await import('@mastra/arize');
      return exporterOf(new ArizeExporter({ endpoint: `${url}/v1/traces` }));
    },
    async langsmith(_framework, url) {
      const { LangSmithExporter } = await import('@mastra/langsmith');
      const client = await langsmithClient(url);
      return exporterOf(new LangSmithExporter({ client, apiKey: 'lsv2_benchmark' }));
    },
  },
  'google-adk': { langfuse: langfuseOfSpans },
  strands: { langfuse: langfuseOfSpans },
};
