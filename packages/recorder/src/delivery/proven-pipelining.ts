import type { SendResult, Transport } from './send-result.ts';

/** Number of consecutive fast responses after which the path counts as near and reliable. */
const provenBy = 32;
/**
 * Slower responses come from far away, where an intermediary that serializes pipelined requests costs more time than
 * pipelining saves CPU.
 */
const nearMs = 25;
/** Pause of pipelining after a pipelined request got no response, in milliseconds; doubles each time. */
const initialRestMs = 60_000;
const maxRestMs = 60 * 60_000;
/** Number of pipelined responses after which earlier failures are forgotten. */
const forgottenAfter = 10_000;

/** Dependencies of a {@link ProvenPipelining}. */
export interface ProvenPipeliningOptions {
  /** Sends one event at a time per connection. */
  readonly single: Transport;
  /** Sends several at a time per connection. */
  readonly pipelined: Transport;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * Pipelines events (RFC 9112, section 9.3.2) where that works, which halves their cost: starts with single requests,
 * switches to pipelining once the path has proved to be near, and back when a request gets no response. An event has an
 * id, so one that is sent twice because of this is stored once.
 */
export class ProvenPipelining implements Transport {
  readonly #options: ProvenPipeliningOptions;
  #provenResponses = 0;
  #pipelinedResponses = 0;
  #restMs = initialRestMs;
  #restsUntilMs = 0;

  constructor(options: ProvenPipeliningOptions) {
    this.#options = options;
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (result: SendResult) => void): void {
    if (this.#provenResponses >= provenBy) this.#sendPipelined(body, headers, done);
    else this.#sendSingly(body, headers, done);
  }

  abort(): void {
    this.#options.single.abort();
    this.#options.pipelined.abort();
  }

  #sendPipelined(
    body: string,
    headers: Readonly<Record<string, string>>,
    done: (result: SendResult) => void,
  ): void {
    this.#options.pipelined.send(body, headers, (result) => {
      if (result.status === undefined) this.#rest();
      else if (++this.#pipelinedResponses >= forgottenAfter) this.#restMs = initialRestMs;
      done(result);
    });
  }

  #sendSingly(
    body: string,
    headers: Readonly<Record<string, string>>,
    done: (result: SendResult) => void,
  ): void {
    const { single, now } = this.#options;
    const sentAtMs = now();
    single.send(body, headers, (result) => {
      const nowMs = now();
      const isFast = result.status !== undefined && result.status < 300 && nowMs - sentAtMs <= nearMs;
      if (!isFast) this.#provenResponses = 0;
      else if (nowMs >= this.#restsUntilMs) this.#provenResponses += 1;
      done(result);
    });
  }

  #rest(): void {
    // Requests that were in flight together count as one signal.
    if (this.#provenResponses < provenBy) return;
    this.#provenResponses = 0;
    this.#pipelinedResponses = 0;
    this.#restsUntilMs = this.#options.now() + this.#restMs;
    this.#restMs = Math.min(maxRestMs, this.#restMs * 2);
  }
}
