import type { Answer, Transport } from './answer.ts';

/** Answers in a row, each soon enough, after which the path counts as near and sound. */
const provenBy = 32;
/**
 * An answer that takes longer comes from far away. Whatever stands in between may take pipelined requests one after
 * another, and far away that costs more time than pipelining saves CPU.
 */
const nearMs = 25;
/** How long requests go singly after a pipelined one got no answer; twice as long each further time. */
const firstRestMs = 60_000;
const longestRestMs = 60 * 60_000;
/** Pipelined answers after which earlier failures are forgotten. */
const forgottenAfter = 10_000;

/** What {@link ProvenPipelining} works with. */
export interface ProvenPipeliningOptions {
  /** Sends one event at a time over a connection. */
  readonly single: Transport;
  /** Sends several. */
  readonly pipelined: Transport;
  /** Milliseconds that never go back. */
  readonly now: () => number;
}

/**
 * Finds out whether events may be pipelined (RFC 9112, section 9.3.2), which halves their cost: begins with single
 * requests, goes over to pipelined ones when the path has shown that it is near, and back when one gets no answer. An
 * event carries its id, so one that was sent twice for this is stored once.
 */
export class ProvenPipelining implements Transport {
  readonly #options: ProvenPipeliningOptions;
  #provenAnswers = 0;
  #pipelinedAnswers = 0;
  #restMs = firstRestMs;
  #restsUntilMs = 0;

  constructor(options: ProvenPipeliningOptions) {
    this.#options = options;
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (answer: Answer) => void): void {
    if (this.#provenAnswers >= provenBy) this.#sendPipelined(body, headers, done);
    else this.#sendSingly(body, headers, done);
  }

  abort(): void {
    this.#options.single.abort();
    this.#options.pipelined.abort();
  }

  #sendPipelined(
    body: string,
    headers: Readonly<Record<string, string>>,
    done: (answer: Answer) => void,
  ): void {
    this.#options.pipelined.send(body, headers, (answer) => {
      if (answer.status === undefined) this.#rest();
      else if (++this.#pipelinedAnswers >= forgottenAfter) this.#restMs = firstRestMs;
      done(answer);
    });
  }

  #sendSingly(body: string, headers: Readonly<Record<string, string>>, done: (answer: Answer) => void): void {
    const { single, now } = this.#options;
    const sentAtMs = now();
    single.send(body, headers, (answer) => {
      const nowMs = now();
      const isGood = answer.status !== undefined && answer.status < 300 && nowMs - sentAtMs <= nearMs;
      if (!isGood) this.#provenAnswers = 0;
      else if (nowMs >= this.#restsUntilMs) this.#provenAnswers += 1;
      done(answer);
    });
  }

  #rest(): void {
    // Requests that were on their way together bring one message, not one each.
    if (this.#provenAnswers < provenBy) return;
    this.#provenAnswers = 0;
    this.#pipelinedAnswers = 0;
    this.#restsUntilMs = this.#options.now() + this.#restMs;
    this.#restMs = Math.min(longestRestMs, this.#restMs * 2);
  }
}
