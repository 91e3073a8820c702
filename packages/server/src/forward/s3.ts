import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { type Batch, type BatchRecord, type Destination, DestinationClient, gzipped } from './destination.ts';
import type { OcsfEvent } from './ocsf.ts';

/** Settings of a bucket of S3, or of a compatible service. */
export interface S3Settings {
  /** Address of the service, such as `https://s3.eu-central-1.amazonaws.com`; the bucket is in the path. */
  readonly url: string;
  readonly bucket: string;
  /** Beginning of the names of all objects. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly format: 'ndjson' | 'parquet';
  readonly caFile?: string | undefined;
}

/** Formats of objects. */
const formats = {
  ndjson: {
    extension: 'ndjson.gz',
    contentType: 'application/x-ndjson',
    encode: ({ records }: Batch) => gzipped(records.map(({ json }) => `${json}\n`).join('')),
  },
  parquet: {
    extension: 'parquet',
    contentType: 'application/vnd.apache.parquet',
    encode: async ({ records }: Batch) => parquetOf(records),
  },
} as const;

/**
 * Objects of S3: a batch is one object, named after its tenant and first entry, so that a repeat overwrites it. After it
 * follows a manifest with its entries, bytes and SHA-256: an object without a manifest is not complete.
 */
export class S3Destination implements Destination {
  readonly #settings: S3Settings;
  readonly #client: DestinationClient;
  readonly #signer: AwsClient;

  constructor(settings: S3Settings) {
    const { accessKeyId, secretAccessKey, region } = settings;
    this.#settings = settings;
    this.#client = new DestinationClient(settings.caFile);
    this.#signer = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  }

  async send(batch: Batch): Promise<void> {
    if (batch.records.length === 0) return;
    const { name } = batch;
    const { prefix, format } = this.#settings;
    const { extension, contentType, encode } = formats[format];
    const body = await encode(batch);
    const tenant = encodeURIComponent(batch.tenant);
    const object = `${prefix}${tenant}/records/${name}.${extension}`;
    const manifest = {
      object,
      format,
      tenant: batch.tenant,
      firstIndex: batch.entries?.first ?? null,
      lastIndex: batch.entries?.last ?? null,
      records: batch.records.length,
      bytes: body.length,
      sha256: createHash('sha256').update(body).digest('hex'),
    };
    await this.#put(object, contentType, body, batch.signal);
    const json = Buffer.from(`${JSON.stringify(manifest)}\n`);
    await this.#put(`${prefix}${tenant}/manifests/${name}.json`, 'application/json', json, batch.signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #put(key: string, contentType: string, body: Uint8Array, signal: AbortSignal): Promise<void> {
    const { url, bucket } = this.#settings;
    const path = key.split('/').map(encoded).join('/');
    const signed = await this.#signer.sign(`${url.replace(/\/$/, '')}/${bucket}/${path}`, {
      method: 'PUT',
      headers: {
        'content-type': contentType,
        'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
      },
      body: Buffer.from(body),
    });
    await this.#client.send({
      method: 'PUT',
      url: new URL(signed.url),
      headers: Object.fromEntries(signed.headers),
      body,
      signal,
    });
  }
}

/** Encodes part of a path as signatures are computed: all but the unreserved characters of RFC 3986. */
function encoded(part: string): string {
  return encodeURIComponent(part).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

type Columns = Parameters<typeof parquetWriteBuffer>[0]['columnData'];

/** Columns with attributes that queries filter by; the whole event is in the column `event`, as JSON. */
const columns: readonly {
  readonly name: string;
  readonly type: 'STRING' | 'INT32' | 'INT64' | 'TIMESTAMP';
  readonly value: (event: OcsfEvent, record: BatchRecord) => unknown;
}[] = [
  { name: 'id', type: 'STRING', value: (_event, { id }) => id },
  { name: 'time', type: 'TIMESTAMP', value: ({ time }) => new Date(time as number) },
  { name: 'class_uid', type: 'INT32', value: ({ class_uid: uid }) => uid },
  { name: 'type_uid', type: 'INT64', value: ({ type_uid: uid }) => BigInt(uid as number) },
  { name: 'activity_name', type: 'STRING', value: ({ activity_name: name }) => name },
  { name: 'severity_id', type: 'INT32', value: ({ severity_id: id }) => id },
  { name: 'disposition', type: 'STRING', value: ({ disposition }) => disposition },
  { name: 'tenant', type: 'STRING', value: ({ metadata }) => member(metadata, 'tenant_uid') },
  { name: 'agent', type: 'STRING', value: ({ actor }) => member(actor, 'app_uid') },
  { name: 'session', type: 'STRING', value: ({ metadata }) => member(metadata, 'correlation_uid') },
  { name: 'operation', type: 'STRING', value: ({ api }) => member(api, 'operation') },
  { name: 'event', type: 'STRING', value: (_event, { json }) => json },
];

/** Returns records as a Parquet file. */
function parquetOf(records: readonly BatchRecord[]): Uint8Array {
  const columnData = columns.map(({ name, type, value }) => ({
    name,
    type,
    nullable: true,
    data: records.map((record) => value(record.event, record) ?? null),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData: columnData as unknown as Columns }));
}

function member(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | undefined)?.[name];
}
