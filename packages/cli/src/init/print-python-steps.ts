import { print } from '../output/print.ts';

/** Prints how agents in Python, or any other language, are recorded by their OpenTelemetry spans. */
export async function printPythonSteps(baseUrl: string): Promise<void> {
  await print('');
  await print('Agents in Python are recorded by the OpenTelemetry spans of their framework:');
  await print(`  export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${baseUrl}/otlp/v1/traces`);
  await print('  export OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf');
  await print('  export OTEL_EXPORTER_OTLP_TRACES_HEADERS="Authorization=Bearer%20$ACTLOG_API_KEY"');
  await print('More: https://github.com/actlog/actlog/blob/main/docs/otlp.md');
}
