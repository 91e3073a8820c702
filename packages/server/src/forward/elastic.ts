import { stringifyExactJson } from '@actlog/protocol';
import {
  type Batch,
  type BatchRecord,
  batchRecord,
  type Destination,
  DestinationClient,
  ForwardError,
  gzipped,
} from './destination.ts';

/** Settings of Elasticsearch, or of OpenSearch. */
export interface ElasticSettings {
  readonly url: string;
  /** Index or data stream. */
  readonly index: string;
  /** Encoded API key; omitted for a cluster without security, or with `username` and `password`. */
  readonly apiKey?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly caFile?: string | undefined;
}

/** Outcome of one item of a bulk request. */
interface BulkItem {
  readonly create?: { readonly status?: number; readonly error?: { readonly type?: string } };
}

/**
 * Elasticsearch by `_bulk`: each record is created with an `_id` that a repeat has too, so that a repeat is a conflict and changes nothing.
 * A document that the mapping rejects is sent again with its `unmapped` fields as text in `raw_data`.
 */
export class ElasticDestination implements Destination {
  readonly #settings: ElasticSettings;
  readonly #client: DestinationClient;

  constructor(settings: ElasticSettings) {
    this.#settings = settings;
    this.#client = new DestinationClient(settings.caFile);
  }

  async send({ records, signal }: Batch): Promise<void> {
    const failed = await this.#create(records, signal);
    const malformed = failed.filter(({ status }) => status === 400).map(({ record }) => record);
    const others = failed.find(({ status }) => status !== 400);
    if (malformed.length > 0) {
      const [still] = await this.#create(malformed.map(withoutUnmapped), signal);
      if (still) throw rejection(still);
    }
    if (others) throw rejection(others);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Creates documents, and returns those that were not. One that exists already was created by an earlier attempt. */
  async #create(records: readonly BatchRecord[], signal: AbortSignal): Promise<FailedItem[]> {
    const { url, index, apiKey, username, password } = this.#settings;
    const lines = records.map(({ id, event, json }) => {
      const time = JSON.stringify({ '@timestamp': new Date(event.time as number).toISOString() });
      return `${JSON.stringify({ create: { _id: id } })}\n${time.slice(0, -1)},${json.slice(1)}\n`;
    });
    const authorization =
      apiKey !== undefined
        ? `ApiKey ${apiKey}`
        : username !== undefined
          ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
          : undefined;
    const { body } = await this.#client.send({
      method: 'POST',
      url: new URL(`${url.replace(/\/$/, '')}/${encodeURIComponent(index)}/_bulk`),
      headers: {
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
        ...(authorization !== undefined && { authorization }),
      },
      body: await gzipped(lines.join('')),
      signal,
    });
    const items = bulkItems(body);
    if (items.length !== records.length) {
      throw new ForwardError('refused', `the response has ${items.length} of ${records.length} items`);
    }
    return records.flatMap((record, at) => {
      const { status = 0, error } = items[at]?.create ?? {};
      const isDone = (status >= 200 && status < 300) || status === 409;
      return isDone ? [] : [{ record, status, type: error?.type ?? 'unknown' }];
    });
  }
}

interface FailedItem {
  readonly record: BatchRecord;
  readonly status: number;
  readonly type: string;
}

function bulkItems(body: string): readonly BulkItem[] {
  try {
    const { items } = JSON.parse(body) as { items?: unknown };
    if (Array.isArray(items)) return items;
  } catch {}
  throw new ForwardError('refused', 'the response is none of _bulk: is "url" Elasticsearch?');
}

function rejection({ record, status, type }: FailedItem): ForwardError {
  const isBusy = status === 429 || status >= 500;
  return new ForwardError(
    isBusy ? 'busy' : 'rejected',
    `record ${record.id} was rejected with ${status} ${/^\w{1,80}$/.test(type) ? type : ''}`.trimEnd(),
  );
}

function withoutUnmapped(record: BatchRecord): BatchRecord {
  const { unmapped, ...event } = record.event;
  return batchRecord(record.id, { ...event, raw_data: stringifyExactJson(unmapped ?? {}) ?? '' });
}
