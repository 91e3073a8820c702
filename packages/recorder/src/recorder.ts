import { Actlog, parseRetryAfter } from '@actlog/client';
import { ArgumentsHasher } from '@actlog/tool-call';
import { ServiceConnection } from './delivery/service-connection.ts';
import { tenantSecret } from './delivery/session-queues.ts';
import { createEventId, eventIdTimeMs } from './events/event.ts';
import type { RunCall, ToolCall, ToolCallFacts } from './events/tool-call.ts';
import { Guard, nodeClock, UnreferencedChecks } from './guard/guard.ts';
import { type GuardOptions, type GuardSettings, resolveGuard } from './guard/guard-options.ts';
import type { Journal } from './journal/journal.ts';
import { openJournal } from './journal/open-journal.ts';
import { waitMs } from './lib/option-checks.ts';
import type { FlushResult, WaitOptions } from './lib/timers.ts';
import { type OriginsOptions, type OriginsSettings, resolveOrigins } from './origins/origins-options.ts';
import { SessionOrigins, type TextAuthor } from './origins/session-origins.ts';
import { DeadLetters } from './outbox/dead-letters.ts';
import { Outbox } from './outbox/outbox.ts';
import { BackgroundFlush, flushingOnReturn, offExit, onExit } from './process-end.ts';
import {
  clientOptionsOf,
  type RecorderOptions,
  type RecorderSettings,
  resolveRecorderSettings,
} from './recorder-options.ts';
import type { RunningCall } from './recording/active-call.ts';
import { CallAnnouncements } from './recording/call-announcements.ts';
import { CallRecorder, type CallTerms } from './recording/call-recorder.ts';
import {
  type Instrumented,
  instrumentTools,
  RecorderSession,
  type SessionOptions,
  type ToolFunctions,
} from './recording/recorder-session.ts';
import { SharedCalls } from './recording/shared-calls.ts';
import { FactRefusals } from './reporting/fact-refusals.ts';
import { Counters, type RecorderStats, Reporter } from './reporting/reporter.ts';

/**
 * Records and guards the tool calls of an agent. A recorded event survives the end of the process and reaches the
 * service, or is passed to `onDrop`.
 *
 * ```ts
 * await using recorder = new Recorder({ agentId: 'support' }); // ACTLOG_API_KEY and ACTLOG_BASE_URL
 * const result = await recorder.toolCall({ toolName: 'search', arguments: { query } }, () => search(query));
 * ```
 */
export class Recorder {
  /** `true` if the recorder has a service to send to. Only {@link sharedRecorder} creates recorders without one. */
  readonly isConfigured: boolean;
  readonly #settings: RecorderSettings;
  readonly #counters = new Counters();
  readonly #journal: Journal | undefined;
  readonly #outbox: Outbox | undefined;
  readonly #calls: CallRecorder;
  readonly #sharedCalls: SharedCalls | undefined;
  readonly #observing: UnreferencedChecks | undefined;
  readonly #createGuard: (settings: GuardSettings) => Guard;
  readonly #guard: Guard;
  readonly #reporter: Reporter;
  #origins: SessionOrigins | undefined;
  #hasLingered = false;
  readonly #exit = { beforeExit: () => this.#beforeExit(), exit: () => this.#exitNow() };

  /**
   * Creates a recorder.
   *
   * @param isConfigured - for {@link sharedRecorder}: `false` creates a recorder without a service
   * @throws InvalidArgumentError when the key or the address is missing or an option of the client is invalid
   * @throws RangeError or TypeError when an option of the recorder is invalid
   */
  constructor(options: RecorderOptions = {}, isConfigured = true) {
    const settings = resolveRecorderSettings(options);
    const onIdentityError = (error: Error) => reporter.failed('identity', error);
    const client = isConfigured
      ? (options.client ?? new Actlog({ clock: nodeClock, onIdentityError, ...clientOptionsOf(options) }))
      : undefined;
    // Failed checks are reported to onError; the client's log lines would report them twice.
    const asking = client?.withOptions({ logLevel: 'off' });
    const hasher = new ArgumentsHasher(options);
    // Nothing throws from here on: resources opened below would have no recorder to close them.
    const reporter = new Reporter(options, this.#counters);
    const refusals = new FactRefusals(reporter);
    this.isConfigured = isConfigured;
    this.#reporter = reporter;
    this.#settings = settings;
    if (client) {
      const service = new ServiceConnection(client, settings);
      const opened = openJournal(
        { ...options, ...settings },
        tenantSecret(client, settings.tenant),
        this.#counters,
        reporter,
      );
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
        refusals,
      });
      onExit(this.#exit);
    }
    const background = new BackgroundFlush(
      () => this.flush(),
      options.waitUntil,
      (error) => reporter.failed('wait-until', error),
    );
    const observing = asking && new UnreferencedChecks(asking);
    this.#observing = observing;
    this.#createGuard = (guard) => {
      const policies = guard.mode === 'observe' ? observing : asking?.policies;
      return new Guard(guard, policies, this.#counters, reporter, refusals);
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
      terms: { guard: this.#guard, origins: this.#sessionOrigins(settings.origins) },
      outbox: this.#outbox,
      refusals,
      reporter,
      seals: settings.seals,
      onRecorded: () => background.request(),
    });
    const secret = client && (options.hashKey ?? client.headers().authorization);
    this.#sharedCalls = secret
      ? new SharedCalls(new CallAnnouncements(secret), () => this.#calls.currentCall())
      : undefined;
  }

  /**
   * Runs a tool and records the call as exactly one event. With the guard in mode `enforce`, checks the call first. The
   * result, or the error thrown by the tool, is passed through unchanged.
   *
   * Hooks of several frameworks may see one call, for example an MCP client inside a LangChain tool: a call of the same
   * tool with the same arguments, made while the first runs and seen by another hook, is the same call.
   *
   * @throws ActionDeniedError when the guard denies the call
   * @throws the signal's reason when the caller aborts while the guard holds the call, which then never runs
   * @throws TypeError when `run` is not a function, or the call is not an object; nothing is recorded then
   */
  toolCall<Result>(call: ToolCall, run: RunCall<Result>): Promise<Result> {
    return this.#calls.toolCall(call, run);
  }

  /**
   * Records a call that has happened. The event is in the journal when this returns. Never throws. Large arguments are
   * hashed before it returns, so pass their `argumentsHash` if that would take too long. A `responseStatus` that is not
   * a 32-bit integer is reported to `onError`, and 500 is recorded instead.
   *
   * @returns the event's id
   */
  record(facts: ToolCallFacts): string {
    return this.#calls.record(facts);
  }

  /** Returns a session to record in, with the given id or a new one. */
  session(id?: string, options?: SessionOptions): RecorderSession {
    return new RecorderSession(id ?? createEventId(Date.now()), this, options);
  }

  /**
   * Remembers what the user or the developer wrote, so that {@link RecorderOptions.origins} can report which arguments
   * came from there. The text stays in memory, as fingerprints. Does nothing while origins are off.
   *
   * @param sessionId - default: the surrounding `session.run`, otherwise the recorder's session
   */
  noteText(author: TextAuthor, text: string, sessionId?: string): void {
    this.#calls.noteText(author, text, sessionId);
  }

  /**
   * Wraps plain functions, so that every call is a tool call under the function's name. An `AbortSignal` as the last
   * parameter, or as its `signal` property, aborts the wait for a person's decision. If there are other parameters,
   * such a last parameter is not part of the arguments.
   */
  instrument<Tools extends ToolFunctions>(tools: Tools): Instrumented<Tools> {
    return instrumentTools(tools, this);
  }

  /**
   * Returns a view of this recorder that records under an adapter's identity, optionally with another guard and with or
   * without argument origins.
   *
   * @throws RangeError or TypeError when an option of the guard or of the origins is invalid
   */
  forAdapter({ guard: given, origins: wanted, ...identity }: AdapterRecorderOptions): AdapterRecorder {
    const settings = this.#settings.guard;
    const guard = given === undefined ? this.#guard : this.#createGuard(resolveGuard(given, settings));
    const origins = wanted === undefined ? this.#settings.origins : resolveOrigins(wanted);
    const terms: CallTerms = { guard, origins: this.#sessionOrigins(origins) };
    return new AdapterRecorder(
      {
        isGuarding: guard.isEnforcing,
        tracesOrigins: terms.origins !== undefined,
        toolCall: (call, run) => this.#calls.toolCall(call, run, terms),
        record: (facts) => this.#calls.record(facts, terms),
        noteText: (author, text, sessionId) => this.#calls.noteText(author, text, sessionId, terms),
        currentCall: () => this.#calls.currentCall(),
        sharedCalls: this.#sharedCalls,
        failed: (kind, error) => this.#calls.failed(kind, error),
      },
      identity,
    );
  }

  /** Returns the origin memory that all adapters share, created by the first that needs it. */
  #sessionOrigins(settings: OriginsSettings | undefined): SessionOrigins | undefined {
    if (settings === undefined) return undefined;
    this.#origins ??= new SessionOrigins(settings, this.#reporter);
    return this.#origins;
  }

  /**
   * Waits until all recorded events are delivered, and returns the state reached.
   *
   * @param options - `timeoutMs`: default 30,000
   * @throws RangeError when `timeoutMs` is not a number
   */
  async flush({ timeoutMs = 30_000 }: WaitOptions = {}): Promise<FlushResult> {
    const endMs = waitMs('timeoutMs', timeoutMs);
    this.#calls.seal(false);
    await this.#outbox?.flush(endMs);
    return this.#result();
  }

  /**
   * Flushes and closes the recorder. Undelivered events stay in the journal for the next process; those only in memory
   * are lost and passed to `onDrop`. Does not wait for running calls: end them first, because the event of a later call
   * is left to the next process or, without a journal, lost.
   *
   * @param options - `timeoutMs`: default 10,000
   * @throws RangeError when `timeoutMs` is not a number; the recorder stays open then
   */
  async close({ timeoutMs = 10_000 }: WaitOptions = {}): Promise<FlushResult> {
    const endMs = waitMs('timeoutMs', timeoutMs);
    this.#calls.seal(true);
    await this.#outbox?.flush(endMs);
    this.#outbox?.close();
    void this.#observing?.close();
    offExit(this.#exit);
    return this.#result();
  }

  /** Closes the recorder with the default timeout. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Wraps the handler of a serverless platform that freezes the process after it returns: its result is delayed until
   * the recorded events are delivered, or until the timeout. If it is a stream or a `Response` with one, the end of the
   * stream is delayed. Properties of the handler, such as the mark of `awslambda.streamifyResponse`, are kept.
   *
   * @param options - `timeoutMs`: default 3,000
   * @throws RangeError when `timeoutMs` is not a number
   */
  flushOnReturn<Args extends unknown[], Result>(
    handler: (...args: Args) => Result | Promise<Result>,
    { timeoutMs = 3_000 }: WaitOptions = {},
  ): (...args: Args) => Promise<Result> {
    const wait = { timeoutMs: waitMs('timeoutMs', timeoutMs) };
    return flushingOnReturn(handler, () => this.flush(wait));
  }

  /** Returns the counters and the current backlog. */
  stats(): RecorderStats {
    const { recorded, adopted, omitted, retried, unreadable, droppedByReason, guard } = this.#counters;
    const oldest = this.#outbox?.longestWaiting;
    return {
      ...this.#result(),
      recorded,
      adopted,
      omitted,
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

  /** Keeps in the journal what is left at the end of the process, with the last seals. */
  #exitNow(): void {
    this.#calls.seal(true);
    this.#outbox?.exit();
  }

  /** Gives delivery a last, short chance at the natural end of the process, which delivery itself does not delay. */
  #beforeExit(): void {
    const { exitTimeoutMs } = this.#settings;
    const outbox = this.#outbox;
    this.#calls.seal(true);
    // Events recorded by the user's listeners are sent when the event loop is empty again.
    if (!outbox || this.#hasLingered || exitTimeoutMs === 0 || outbox.pending === 0) return;
    // The wait makes the event loop empty again, which must not start another wait.
    this.#hasLingered = true;
    void outbox.linger(exitTimeoutMs).then(() => {
      this.#hasLingered = outbox.pending > 0;
    });
  }
}

/** Identity of an adapter. */
export interface AdapterIdentity {
  /** Value of `x-service-framework`, such as `langchain`. */
  readonly framework: string;
  /** Value of `x-service-sdk`, such as `@actlog/langchain/1.0.0`. */
  readonly sdk: string;
}

/** Options of an adapter's view of a recorder. */
export interface AdapterRecorderOptions extends AdapterIdentity {
  /**
   * Guard for calls through this adapter. Missing options are taken from the recorder's guard. Default: the recorder's
   * guard.
   */
  readonly guard?: GuardOptions | undefined;
  /** Argument origins for calls through this adapter. Default: as the recorder does. */
  readonly origins?: boolean | OriginsOptions | undefined;
}

/** Receiver of the view's calls. */
interface Target {
  readonly isGuarding: boolean;
  toolCall<Result>(call: ToolCall, run: RunCall<Result>): Promise<Result>;
  record(facts: ToolCallFacts): string;
  readonly tracesOrigins: boolean;
  noteText(author: TextAuthor, text: string, sessionId?: string): void;
  currentCall(): RunningCall | undefined;
  readonly sharedCalls: SharedCalls | undefined;
  failed(kind: string, error: Error): void;
}

/**
 * A recorder as seen by one adapter: the same queue and journal, but with the adapter's names on every event and
 * optionally another guard. One recorder can serve any number of frameworks.
 */
export class AdapterRecorder {
  /** Identity of the adapter that owns this view. */
  readonly identity: AdapterIdentity;
  readonly #target: Target;

  constructor(target: Target, identity: AdapterIdentity) {
    this.#target = target;
    this.identity = identity;
  }

  /** `true` if calls through this view run only when the guard allows them. */
  get isGuarding(): boolean {
    return this.#target.isGuarding;
  }

  /** Calls `recorder.toolCall` under this adapter's identity. */
  toolCall<Result>(call: ToolCall, run: RunCall<Result>): Promise<Result> {
    return this.#target.toolCall({ ...this.identity, ...call }, run);
  }

  /** Calls `recorder.record` under this adapter's identity. */
  record(facts: ToolCallFacts): string {
    return this.#target.record({ ...this.identity, ...facts });
  }

  /** `true` if the recorder traces where arguments came from, so that `noteText` needs the conversation. */
  get tracesOrigins(): boolean {
    return this.#target.tracesOrigins;
  }

  /** Calls `recorder.noteText`. */
  noteText(author: TextAuthor, text: string, sessionId?: string): void {
    this.#target.noteText(author, text, sessionId);
  }

  /** Returns the innermost running call of the recorder, from any adapter. */
  currentCall(): RunningCall | undefined {
    return this.#target.currentCall();
  }

  /** Calls that this recorder shares with the other side of a connection; undefined if it reports to no service. */
  get sharedCalls(): SharedCalls | undefined {
    return this.#target.sharedCalls;
  }

  /**
   * Reports an error of the adapter to the recorder's `onError` or, without one, to the console once per kind.
   *
   * @param kind - subject of the error, such as the name of an option
   */
  failed(kind: string, error: Error): void {
    this.#target.failed(`${this.identity.framework}-${kind}`, error);
  }

  /** Calls `recorder.session` under this adapter's identity. */
  session(id?: string, options?: SessionOptions): RecorderSession {
    return new RecorderSession(id ?? createEventId(Date.now()), this, options);
  }
}
