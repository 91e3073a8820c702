import { Actlog, parseRetryAfter } from '@actlog/client';
import { AdapterRecorder, type AdapterRecorderOptions } from './adapter-recorder.ts';
import { ArgumentsHasher } from './arguments/arguments-hash.ts';
import { CallRecorder } from './call-recorder.ts';
import { Counters, type RecorderStats } from './counters.ts';
import { createEventId, eventIdTimeMs } from './event-id.ts';
import { offExit, onExit } from './exit-hooks.ts';
import type { FlushResult, WaitOptions } from './flush.ts';
import { AwaitedChecks } from './guard/awaited-checks.ts';
import { Guard } from './guard/guard.ts';
import { type GuardSettings, resolveGuard } from './guard/guard-settings.ts';
import { UnreferencedChecks } from './guard/unreferenced-checks.ts';
import { type Instrumented, instrumentTools, type ToolFunctions } from './instrument.ts';
import type { Journal } from './journal/journal.ts';
import { openJournal } from './open-journal.ts';
import { waitMs } from './option-checks.ts';
import { DeadLetters } from './outbox/dead-letters.ts';
import { Outbox } from './outbox/outbox.ts';
import type { RecorderOptions } from './recorder-options.ts';
import { type RecorderSettings, resolveRecorderSettings } from './recorder-settings.ts';
import { Reporter } from './reporter.ts';
import { BackgroundFlush, flushingOnReturn } from './serverless.ts';
import { ServiceConnection } from './service-connection.ts';
import { Session } from './session.ts';
import type { ToolCall, ToolCallFacts } from './tool-call.ts';

/**
 * Records the tool calls of an agent, and guards them. An event that was recorded survives the end of the process and
 * reaches the service, or `onDrop` names it.
 *
 * ```ts
 * await using recorder = new Recorder({ agentId: 'support' }); // ACTLOG_API_KEY and ACTLOG_BASE_URL
 * const answer = await recorder.toolCall({ toolName: 'search', arguments: { query } }, () => search(query));
 * ```
 */
export class Recorder {
  /** Whether it has a service to send to; only {@link sharedRecorder} makes one that has none. */
  readonly isConfigured: boolean;
  readonly #settings: RecorderSettings;
  readonly #counters = new Counters();
  readonly #journal: Journal | undefined;
  readonly #outbox: Outbox | undefined;
  readonly #calls: CallRecorder;
  readonly #observing: UnreferencedChecks | undefined;
  readonly #createGuard: (settings: GuardSettings) => Guard;
  readonly #guard: Guard;
  #hadLastChance = false;
  readonly #exit = { beforeExit: () => this.#beforeExit(), exit: () => this.#outbox?.exit() };

  /**
   * @param isConfigured - for {@link sharedRecorder}: `false` makes a recorder without a service
   * @throws InvalidArgumentError when the key or the address is missing or an option of the client cannot be used
   * @throws RangeError or TypeError when an option of the recorder cannot be used
   */
  constructor(options: RecorderOptions = {}, isConfigured = true) {
    const settings = resolveRecorderSettings(options);
    const client = isConfigured ? (options.client ?? new Actlog(options)) : undefined;
    // Failed checks are told by onError; the client's own log lines would tell of them twice.
    const asking = client?.withOptions({ logLevel: 'off' });
    const hasher = new ArgumentsHasher(options);
    // From here on nothing throws: what is opened below would stay open without a recorder to close it.
    const reporter = new Reporter(options, this.#counters);
    this.isConfigured = isConfigured;
    this.#settings = settings;
    if (client) {
      const service = new ServiceConnection(client, settings);
      const opened = openJournal({ ...options, ...settings }, service.tenantSecret, this.#counters, reporter);
      this.#journal = opened?.journal;
      this.#outbox = new Outbox({
        journal: opened?.journal,
        deadLetters: opened && new DeadLetters(opened.folder),
        baseURL: client.baseURL,
        connect: () => service.connect(),
        headersFor: (origin) => service.headersFor(origin),
        parseRetryAfter,
        maxConcurrency: settings.concurrency,
        maxQueuedEvents: settings.maxQueuedEvents,
        whenFull: settings.whenFull,
        counters: this.#counters,
        reporter,
      });
      onExit(this.#exit);
    }
    const background = new BackgroundFlush(
      () => this.flush(),
      options.waitUntil,
      (error) => reporter.failed('wait-until', error),
    );
    const observing = asking && new UnreferencedChecks(asking);
    const enforcing = observing && new AwaitedChecks(asking, observing);
    this.#observing = observing;
    this.#createGuard = (guard) => {
      const policies = guard.mode === 'observe' ? observing : enforcing;
      return new Guard(guard, policies, this.#counters, reporter);
    };
    this.#guard = this.#createGuard(settings.guard);
    this.#calls = new CallRecorder({
      agentId: settings.agentId,
      agentVersion: options.agentVersion,
      framework: options.framework,
      sdk: options.sdk,
      blockTimeoutMs: settings.blockTimeoutMs,
      responseStatus: options.responseStatus,
      hasher,
      guard: this.#guard,
      outbox: this.#outbox,
      reporter,
      onRecorded: () => background.request(),
    });
  }

  /**
   * Runs a tool and records the call as exactly one event. With the guard in mode `enforce`, asks first. The result,
   * or what the tool throws, comes back untouched.
   *
   * Hooks of several frameworks may see one call, as an MCP client within a LangChain tool: a call of the same tool
   * with the same arguments, made while the first runs and seen by another hook, is the same call.
   *
   * @throws ActionDeniedError when the guard does not let it run
   * @throws the signal's reason when the caller aborts while the guard holds the call, which then never runs
   * @throws TypeError when `run` is no function, or the call no object; nothing is recorded then
   */
  toolCall<Result>(call: ToolCall, run: () => Result | Promise<Result>): Promise<Result> {
    return this.#calls.toolCall(call, run);
  }

  /**
   * Records a call that has happened. When this returns, the event stands in the journal. It never throws; large
   * arguments are hashed before it returns, so pass their `argumentsHash` where that would take too long. A
   * `responseStatus` that is no 32-bit integer is told to `onError`, and 500 is recorded in its place.
   *
   * @returns the event's id
   */
  record(facts: ToolCallFacts): string {
    return this.#calls.record(facts);
  }

  /** A session to record in, with an id of your own or a new one. */
  session(id?: string): Session {
    return new Session(id ?? createEventId(Date.now()), this);
  }

  /**
   * Wraps plain functions: every call of one is a tool call under its name. An `AbortSignal` as the last parameter, or
   * as the `signal` of it, ends the wait for a person's approval; a last parameter beside others that is or holds one is
   * not part of the arguments.
   */
  instrument<Tools extends ToolFunctions>(tools: Tools): Instrumented<Tools> {
    return instrumentTools(tools, this);
  }

  /**
   * This recorder with an adapter's own names on what it records, and with a guard of its own where one is given.
   *
   * @throws RangeError or TypeError when an option of the guard cannot be used
   */
  forAdapter({ guard: given, ...identity }: AdapterRecorderOptions): AdapterRecorder {
    const settings = this.#settings.guard;
    const guard = given === undefined ? this.#guard : this.#createGuard(resolveGuard(given, settings));
    return new AdapterRecorder(
      {
        isGuarding: guard.isEnforcing,
        toolCall: (call, run) => this.#calls.toolCall(call, run, guard),
        record: (facts) => this.#calls.record(facts),
        currentCall: () => this.#calls.currentCall(),
        failed: (kind, error) => this.#calls.failed(kind, error),
      },
      identity,
    );
  }

  /**
   * Waits until everything that was recorded is delivered, and says how far that came.
   *
   * @param options - `timeoutMs`: default 30,000
   * @throws RangeError when `timeoutMs` is no number
   */
  async flush({ timeoutMs = 30_000 }: WaitOptions = {}): Promise<FlushResult> {
    await this.#outbox?.flush(waitMs('timeoutMs', timeoutMs));
    return this.#result();
  }

  /**
   * Flushes and ends the recorder. What could not be delivered stays in the journal for the next process; what only
   * memory holds is lost then, and `onDrop` names it. It does not wait for calls that are running: end those first, as
   * one that ends later is only left to the next process, or lost where there is no journal.
   *
   * @param options - `timeoutMs`: default 10,000
   * @throws RangeError when `timeoutMs` is no number; the recorder is not ended then
   */
  async close({ timeoutMs = 10_000 }: WaitOptions = {}): Promise<FlushResult> {
    await this.#outbox?.flush(waitMs('timeoutMs', timeoutMs));
    this.#outbox?.close();
    void this.#observing?.close();
    offExit(this.#exit);
    return this.#result();
  }

  /** Closes with the default time. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Wraps the handler of a serverless platform that freezes the process when it returns: its result is held back
   * until what it recorded is delivered, or the time is over.
   *
   * @param options - `timeoutMs`: default 3,000
   * @throws RangeError when `timeoutMs` is no number
   */
  flushOnReturn<Args extends unknown[], Result>(
    handler: (...args: Args) => Result | Promise<Result>,
    { timeoutMs = 3_000 }: WaitOptions = {},
  ): (...args: Args) => Promise<Result> {
    const wait = { timeoutMs: waitMs('timeoutMs', timeoutMs) };
    return flushingOnReturn(handler, () => this.flush(wait));
  }

  /** What the recorder has done and has before it. */
  stats(): RecorderStats {
    const { recorded, adopted, retried, unreadable, droppedByReason, guard } = this.#counters;
    const oldest = this.#outbox?.longestWaiting;
    return {
      ...this.#result(),
      recorded,
      adopted,
      retried,
      unreadable,
      droppedByReason: { ...droppedByReason },
      guard: { ...guard },
      spoolBytes: this.#journal?.bytes ?? 0,
      lagMs: oldest ? Math.max(0, Date.now() - eventIdTimeMs(oldest.eventId)) : 0,
    };
  }

  #result(): FlushResult {
    const { delivered, deadLettered, dropped } = this.#counters;
    const pending = this.#outbox?.pending ?? 0;
    return { delivered, pending, spooled: this.#outbox?.spooled ?? 0, dropped, deadLettered };
  }

  /** Delivery does not keep the process alive; at its natural end it gets a last, short chance. */
  #beforeExit(): void {
    const { exitTimeoutMs } = this.#settings;
    const outbox = this.#outbox;
    // What listeners of the user's own still record has its chance when the event loop has run empty once more.
    if (!outbox || this.#hadLastChance || exitTimeoutMs === 0 || outbox.pending === 0) return;
    // Waiting makes the event loop run empty again, which must not begin another wait.
    this.#hadLastChance = true;
    void outbox.linger(exitTimeoutMs).then(() => {
      this.#hadLastChance = outbox.pending > 0;
    });
  }
}
