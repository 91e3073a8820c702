// Other recorders for agent frameworks, each as its own documentation registers it for a whole process. What is given
// is the framework as the agent imports it, because a second copy would hear of nothing.

async function tracerProvider(spanProcessor) {
  const { NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const provider = new NodeTracerProvider({ spanProcessors: [spanProcessor] });
  provider.register();
  return provider;
}

async function otlpExporter(url) {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  return new OTLPTraceExporter({ url: `${url}/v1/traces` });
}

async function langsmithClient(url) {
  process.env.LANGSMITH_TRACING = 'true';
  const { Client } = await import('langsmith');
  return new Client({ apiUrl: url, apiKey: 'lsv2_benchmark', tracingSamplingRate: 1 });
}

/** What installs a recorder, by adapter and recorder; each returns what makes it deliver. */
export const installers = {
  'ai-sdk': {
    async langfuse(ai, url) {
      const { LangfuseSpanProcessor } = await import('@langfuse/otel');
      const { LangfuseVercelAiSdkIntegration } = await import('@langfuse/vercel-ai-sdk');
      const keys = { publicKey: 'pk-lf-benchmark', secretKey: 'sk-lf-benchmark' };
      const processor = new LangfuseSpanProcessor({ ...keys, baseUrl: url });
      await tracerProvider(processor);
      ai.registerTelemetry(new LangfuseVercelAiSdkIntegration());
      return () => processor.forceFlush();
    },
    async openinference(ai, url) {
      const { OpenInferenceBatchSpanProcessor } = await import('@arizeai/openinference-vercel');
      const { OpenTelemetry } = await import('@ai-sdk/otel');
      const processor = new OpenInferenceBatchSpanProcessor({ exporter: await otlpExporter(url) });
      await tracerProvider(processor);
      ai.registerTelemetry(new OpenTelemetry());
      return () => processor.forceFlush();
    },
    async langsmith(ai, url) {
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
        tracerProvider: await tracerProvider(processor),
      });
      instrumentation.manuallyInstrument(agents);
      return () => processor.forceFlush();
    },
    async langsmith(agents, url) {
      const client = await langsmithClient(url);
      const { OpenAIAgentsTracingProcessor } = await import('langsmith/wrappers/openai_agents');
      agents.setTraceProcessors([new OpenAIAgentsTracingProcessor({ client })]);
      return () => client.awaitPendingTraceBatches();
    },
  },
};
