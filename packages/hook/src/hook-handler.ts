import type { Actlog } from '@actlog/client';
import {
  ActionDeniedError,
  type ApprovedChange,
  CallGuard,
  type CheckedCall,
  createEventId,
  endOfRunReason,
  policyOf,
  repeatedMember,
  SpoolWriter,
  tenantSpoolFolder,
} from '@actlog/recorder/short-lived';
import { type BegunCall, CallLog } from './calls/call-log.ts';
import type { HookCall, HookEvent } from './calls/hook-call.ts';
import type { CallFacts } from './calls/open-calls.ts';
import type { Dialect } from './dialects/dialect.ts';
import { DeliveryProblem, FlushLock } from './hook-folder.ts';
import type { HookOptions } from './hook-options.ts';
import { type HookOutput, noOutput } from './hook-output.ts';
import { missingVariables, sdk, serviceOf } from './service.ts';

/** Service that events are recorded for. */
interface Recording {
  readonly spoolFolder: string;
  readonly spool: SpoolWriter;
  readonly calls: CallLog;
}

/** Reason for the model if a change cannot be passed on, which the service should have refused. */
const unchangeable =
  'The call was not run: it was approved with changed arguments, which this agent cannot run.';

/** Time for a withdrawal, in milliseconds: the agent waits for its hook. */
const withdrawalTimeoutMs = 2000;

/** An event that is not about a call to come. */
type AfterEvent = Exclude<HookEvent, { kind: 'before' | 'prompt' | 'other' }>;

/** Handles one event of an agent. */
export class HookHandler {
  readonly #options: HookOptions;
  readonly #dialect: Dialect;
  readonly #client: Actlog | undefined;
  readonly #guard: CallGuard;
  /** Problems of this process, in order. */
  readonly #problems: Error[] = [];

  /**
   * @throws InvalidArgumentError when the key or the address is invalid
   * @throws RangeError or TypeError when an option of the guard is invalid
   */
  constructor(options: HookOptions, dialect: Dialect) {
    this.#options = options;
    this.#dialect = dialect;
    this.#client = serviceOf(options.agent, (error) => this.#problems.push(error));
    this.#guard = new CallGuard(options.guard, this.#client?.policies, (error) => this.#problems.push(error));
  }

  /** `true` if a call must not run when this hook fails. */
  get isFailClosed(): boolean {
    return this.#guard.isFailClosed;
  }

  /** Problems that did not change the output. */
  get problems(): readonly Error[] {
    return this.#problems;
  }

  /**
   * Handles an event. What it records is on disk when this resolves.
   *
   * @param text - JSON of the event
   */
  async handle(event: HookEvent, text: string): Promise<HookOutput> {
    if (event.kind === 'other') return this.#proceed;
    const recording = this.#open();
    try {
      if (event.kind === 'before') return await this.#before(event.call, text, recording?.calls);
      if (event.kind === 'prompt') return await this.#prompted(event.call, text, recording?.calls);
      // Before the records of the session are forgotten.
      const answered = recording ? (this.#attempt(() => answeredPrompts(event, recording.calls)) ?? []) : [];
      const output = this.#after(event, recording);
      await Promise.all(answered.map((id) => this.#withdraw(id)));
      return output;
    } finally {
      recording?.spool.close();
      // Earlier hooks may have left events, such as in an outage.
      const isBoundary = event.kind === 'session-start' || event.kind === 'session-end';
      if (recording && (isBoundary || recording.spool.hasWritten))
        await this.#startFlush(recording.spoolFolder);
    }
  }

  async #before(call: HookCall, text: string, calls: CallLog | undefined): Promise<HookOutput> {
    const begun = this.#attempt(() => calls?.begin(call));
    if (!this.#guard.isEnforcing) return this.#dialect.pass;
    const repeated = repeatedMember(text);
    if (repeated !== undefined) {
      if (begun) this.#attempt(() => calls?.deny(call, begun));
      return this.#dialect.deny(
        `The call was not run: its event has the member ${JSON.stringify(repeated)} twice, so that it cannot be checked.`,
      );
    }
    try {
      const change = await this.#check(call, calls, begun);
      if (begun) calls?.denials(call).letThrough(call.toolName);
      if (!change) return this.#dialect.pass;
      if (begun) this.#attempt(() => calls?.change({ ...call, arguments: change.arguments }, begun));
      return this.#dialect.change?.(change) ?? this.#dialect.deny(unchangeable);
    } catch (error) {
      if (!ActionDeniedError.isInstance(error)) throw error;
      return this.#denied(call, error, calls, begun);
    }
  }

  /** Answers the agent's permission prompt with a person's decision. Without one, the prompt stays with the user. */
  async #prompted(call: HookCall, text: string, calls: CallLog | undefined): Promise<HookOutput> {
    const { prompt } = this.#dialect;
    if (!prompt || !calls || repeatedMember(text) !== undefined) return this.#proceed;
    const guard = { ...this.#options.guard, mode: 'enforce', onUnavailable: 'deny' } as const;
    const asking = new CallGuard(guard, this.#client?.policies, (error) => this.#problems.push(error));
    // Another action than the call: a person may decide about both.
    const actionId = createEventId(Date.now());
    const checked = {
      ...this.#checked(call, calls.facts(call), actionId),
      acceptsChanges: prompt.acceptsChanges,
    };
    try {
      const decided = await asking.askPerson(
        checked,
        (args) => calls.hash(args),
        (id) => this.#attempt(() => calls.holdPrompt(call, id)),
      );
      if (!decided) return this.#proceed;
      this.#attempt(() => calls.answeredPrompts(call));
      const { change } = decided;
      if (change) this.#attempt(() => calls.changeOpen(call, change.arguments));
      return prompt.allow(change);
    } catch (error) {
      if (!ActionDeniedError.isInstance(error)) throw error;
      this.#attempt(() => calls.answeredPrompts(call));
      return prompt.deny(error.message);
    }
  }

  #check(
    call: HookCall,
    calls: CallLog | undefined,
    begun: BegunCall | undefined,
  ): Promise<ApprovedChange | undefined> {
    const facts = begun?.facts ?? calls?.facts(call);
    const checked = this.#checked(call, facts, begun?.name.eventId ?? '');
    const acceptsChanges = this.#dialect.change !== undefined && calls !== undefined;
    return this.#guard.admit({ ...checked, acceptsChanges }, (args) => calls?.hash(args) ?? '');
  }

  #checked(call: HookCall, facts: CallFacts | undefined, actionId: string): CheckedCall {
    const { agent, agentId } = this.#options;
    return {
      agentId: facts?.agentId ?? agentId,
      sessionId: call.sessionId,
      subagent: call.subagent,
      toolName: call.toolName,
      arguments: call.arguments,
      argumentsHash: facts?.argumentsHash ?? '',
      framework: agent,
      traceparent: facts?.traceparent,
      actionId,
    };
  }

  #denied(
    call: HookCall,
    error: ActionDeniedError,
    calls: CallLog | undefined,
    begun: BegunCall | undefined,
  ): HookOutput {
    const isUndecided = error.because === 'approval-timed-out' && error.decision === 'require_approval';
    const policy = policyOf(error);
    if (isUndecided && this.#options.afterHold === 'ask' && this.#dialect.ask) {
      return this.#dialect.ask(
        `${policy ? `The ${policy}` : 'A policy'} of actlog holds this call for approval, and nobody decided in time.`,
      );
    }
    if (!begun || !calls) return this.#dialect.deny(error.message);
    this.#attempt(() => calls.deny(call, begun));
    const isRepeated = calls.denials(call).count(call.toolName, begun.facts.argumentsHash);
    return this.#dialect.deny(error.message, isRepeated ? endOfRunReason(error) : undefined);
  }

  /**
   * Withdraws the action of a prompt that was answered where the agent runs, so that nobody decides about it any more. It
   * fails silently, for example with a service that has no such request: the hold then ends by itself within a minute.
   */
  async #withdraw(pendingActionId: string): Promise<void> {
    const path = `/server/v1/pending-actions/${encodeURIComponent(pendingActionId)}/withdraw`;
    const options = { timeoutMs: withdrawalTimeoutMs, maxRetries: 0 };
    await this.#client?.request('POST', path, options).catch(() => {});
  }

  #after(event: AfterEvent, recording: Recording | undefined): HookOutput {
    if (event.kind === 'session-start') return this.#notify(recording);
    if (!recording) return this.#proceed;
    const { calls } = recording;
    this.#attempt(() => {
      if (event.kind === 'after') calls.end(event);
      else if (event.kind === 'turn') calls.endTurn(event.calls);
      else if (event.kind === 'idle') calls.interrupt(event.thread);
      else if (event.kind === 'session-end') calls.endSession(event.sessionId);
    });
    return this.#proceed;
  }

  #notify(recording: Recording | undefined): HookOutput {
    const problem = recording
      ? new DeliveryProblem(recording.spoolFolder).read()
      : `Nothing is recorded: set ${missingVariables().join(' and ')}.`;
    const { notify } = this.#dialect;
    return problem === undefined || !notify ? this.#proceed : notify(`actlog: ${problem}`);
  }

  get #proceed(): HookOutput {
    return this.#dialect.proceed ?? noOutput;
  }

  #open(): Recording | undefined {
    const client = this.#client;
    if (!client) return undefined;
    return this.#attempt(() => {
      const { agent, agentId } = this.#options;
      const spoolFolder = tenantSpoolFolder(client);
      const onError = (error: Error) => this.#problems.push(error);
      const spool = new SpoolWriter({ client, framework: agent, sdk, onError });
      const remembersEnded = this.#dialect.reportsEndedCalls;
      return {
        spoolFolder,
        spool,
        calls: new CallLog({ agent, agentId, spoolFolder, spool, remembersEnded }),
      };
    });
  }

  async #startFlush(spoolFolder: string): Promise<void> {
    if (new FlushLock(spoolFolder).isHeld) return;
    const { startFlush } = await import('./start-flush.ts');
    this.#attempt(() => startFlush(this.#options.agent, spoolFolder));
  }

  /** Runs a step whose failure must not decide about a call. */
  #attempt<Result>(step: () => Result): Result | undefined {
    try {
      return step();
    } catch (error) {
      this.#problems.push(error as Error);
      return undefined;
    }
  }
}

/** Returns the held actions of prompts that an event shows to be answered. */
function answeredPrompts(event: AfterEvent, calls: CallLog): string[] {
  switch (event.kind) {
    case 'after':
      return calls.answeredPrompts(event.call);
    case 'turn':
      return event.calls.flatMap(({ call }) => calls.answeredPrompts(call));
    case 'idle':
      return calls.endedPrompts(event.thread);
    case 'session-end':
      return calls.endedPrompts({ sessionId: event.sessionId });
    case 'session-start':
      return [];
  }
}
