import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Batch,
  type Destination,
  DestinationClient,
  type DestinationResponse,
  ForwardError,
  gzipped,
} from './destination.ts';

/** Settings of Splunk's HTTP Event Collector. */
export interface SplunkSettings {
  /** Address of the collector, such as `https://splunk.example.com:8088`. */
  readonly url: string;
  readonly token: string;
  readonly index?: string | undefined;
  readonly sourcetype: string;
  /** `true` to wait for the acknowledgment of the indexers, which the token must have enabled. */
  readonly acknowledge: boolean;
  readonly caFile?: string | undefined;
}

/** Delay between requests for an acknowledgment, in milliseconds. */
const pollMs = 500;

/**
 * Splunk's HTTP Event Collector: a batch is one request with an event for each record. With indexer acknowledgment, the
 * batch waits until Splunk has indexed it; without, a response only says that Splunk has received it.
 */
export class SplunkDestination implements Destination {
  readonly #settings: SplunkSettings;
  readonly #client: DestinationClient;
  /** Channel of the acknowledgments, one for each process. */
  readonly #channel = randomUUID();

  constructor(settings: SplunkSettings) {
    this.#settings = settings;
    this.#client = new DestinationClient(settings.caFile);
  }

  async send({ records, tenant, signal }: Batch): Promise<void> {
    const { index, sourcetype, acknowledge } = this.#settings;
    const shared = { source: 'actlog', sourcetype, ...(index !== undefined && { index }) };
    const lines = records.map(({ id, event, json }) => {
      const fields = JSON.stringify({
        time: (event.time as number) / 1000,
        host: tenant,
        ...shared,
        fields: { actlog_id: id },
      });
      return `${fields.slice(0, -1)},"event":${json}}`;
    });
    const body = await gzipped(lines.join('\n'));
    const response = await this.#post('/services/collector/event', body, signal, {
      'content-encoding': 'gzip',
    });
    const { code, ackId } = parsed(response);
    if (code !== 0) throw new ForwardError('rejected', `Splunk rejected the batch with code ${code}`);
    if (!acknowledge) return;
    if (typeof ackId !== 'number') {
      throw new ForwardError(
        'refused',
        'Splunk returned no ackId: enable indexer acknowledgment for the token, or set "acknowledge" to false',
      );
    }
    await this.#acknowledged(ackId, signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #acknowledged(ackId: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const body = JSON.stringify({ acks: [ackId] });
      const { acks } = parsed(await this.#post('/services/collector/ack', body, signal));
      if ((acks as Record<string, unknown> | undefined)?.[ackId] === true) return;
      await delay(pollMs, undefined, { signal }).catch((cause: unknown) => {
        throw new ForwardError('timeout', 'Splunk did not acknowledge the batch in time', 0, { cause });
      });
    }
  }

  #post(
    path: string,
    body: string | Uint8Array,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<DestinationResponse> {
    const { url, token } = this.#settings;
    return this.#client.send({
      method: 'POST',
      url: new URL(`${url.replace(/\/$/, '')}${path}`),
      headers: {
        authorization: `Splunk ${token}`,
        'content-type': 'application/json',
        'x-splunk-request-channel': this.#channel,
        ...headers,
      },
      body,
      signal,
    });
  }
}

function parsed({ body }: DestinationResponse): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch (cause) {
    throw new ForwardError('refused', 'the response is not JSON: is "url" the HTTP Event Collector?', 0, {
      cause,
    });
  }
}
