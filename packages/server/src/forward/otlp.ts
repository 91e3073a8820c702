import type { JsonLogsSerializer } from '@opentelemetry/otlp-transformer';
import { version } from '../lib/version.ts';
import {
  type Batch,
  type BatchRecord,
  type Destination,
  DestinationClient,
  ForwardError,
  gzipped,
} from './destination.ts';

/** Settings of a receiver of OTLP/HTTP. */
export interface OtlpSettings {
  /** Address of the receiver without `/v1/logs`, such as `https://collector.example.com:4318`. */
  readonly url: string;
  /** Header that the token is sent in. */
  readonly header: string;
  /** Value of the header, such as `Bearer …`. */
  readonly token?: string | undefined;
  readonly caFile?: string | undefined;
}

type LogRecord = Parameters<typeof JsonLogsSerializer.serializeRequest>[0][number];

/** Severity numbers of OpenTelemetry by the severities of OCSF. */
const severities: readonly number[] = [0, 9, 10, 13, 17, 21, 24];

/** Logs of OpenTelemetry by OTLP/HTTP, as JSON: the body of a log record is the OCSF event. */
export class OtlpDestination implements Destination {
  readonly #settings: OtlpSettings;
  readonly #client: DestinationClient;

  constructor(settings: OtlpSettings) {
    this.#settings = settings;
    this.#client = new DestinationClient(settings.caFile);
  }

  async send({ tenant, records, signal }: Batch): Promise<void> {
    const { url, header, token } = this.#settings;
    // Imported here, because only this destination needs it.
    const { JsonLogsSerializer: serializer } = await import('@opentelemetry/otlp-transformer');
    const attributes = { 'service.name': 'actlog', 'service.version': version, 'actlog.tenant': tenant };
    const resource = { attributes } as unknown as LogRecord['resource'];
    const instrumentationScope = { name: '@actlog/server', version };
    const request = serializer.serializeRequest(
      records.map((record) => ({ ...logRecord(record), resource, instrumentationScope })),
    );
    const response = await this.#client.send({
      method: 'POST',
      url: new URL(`${url.replace(/\/$/, '')}/v1/logs`),
      headers: {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        ...(token !== undefined && { [header]: token }),
      },
      body: await gzipped(request ?? ''),
      signal,
    });
    const rejected = rejectedRecords(response.body);
    if (rejected > 0)
      throw new ForwardError('rejected', `${rejected} of ${records.length} records were rejected`);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

function logRecord({ id, event, json }: BatchRecord): Omit<LogRecord, 'resource' | 'instrumentationScope'> {
  const ms = event.time as number;
  const hrTime: [number, number] = [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
  const { class_uid: classUid, type_uid: typeUid, severity } = event;
  return {
    hrTime,
    hrTimeObserved: hrTime,
    severityNumber: severities[event.severity_id as number] ?? 0,
    severityText: severity as string,
    eventName: 'actlog.record',
    body: json,
    attributes: {
      'actlog.id': id,
      'ocsf.class_uid': classUid as number,
      'ocsf.type_uid': typeUid as number,
    },
    droppedAttributesCount: 0,
  };
}

/** Returns the number of rejected records. A receiver that accepts all may respond with anything. */
function rejectedRecords(body: string): number {
  try {
    const { partialSuccess } = JSON.parse(body) as {
      partialSuccess?: { rejectedLogRecords?: string | number } | null;
    };
    // A 64-bit integer, which JSON of Protocol Buffers writes as a string.
    return Number(partialSuccess?.rejectedLogRecords ?? 0);
  } catch {
    return 0;
  }
}
