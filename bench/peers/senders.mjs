// Exporters of other recorders, set up as their documentation shows, for any framework.

/** Registers a tracer provider for the process. */
export async function registerProvider(spanProcessor) {
  const { NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const provider = new NodeTracerProvider({ spanProcessors: [spanProcessor] });
  provider.register();
  return provider;
}

export async function otlpExporter(url) {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  return new OTLPTraceExporter({ url: `${url}/v1/traces` });
}

export async function langfuseProcessor(url) {
  const { LangfuseSpanProcessor } = await import('@langfuse/otel');
  return new LangfuseSpanProcessor({
    publicKey: 'pk-lf-benchmark',
    secretKey: 'sk-lf-benchmark',
    baseUrl: url,
  });
}

export async function langsmithClient(url) {
  const { Client } = await import('langsmith');
  return new Client({ apiUrl: url, apiKey: 'lsv2_benchmark', tracingSamplingRate: 1 });
}
