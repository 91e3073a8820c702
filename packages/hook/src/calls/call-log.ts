import { readFileSync } from 'node:fs';
import {
  ArgumentsHasher,
  createEventId,
  ownIdentity,
  type ProcessIdentity,
  responseStatuses,
  type SpoolWriter,
} from '@actlog/recorder/short-lived';
import type { AgentName } from '../dialects/dialect.ts';
import { sessionFolder } from '../hook-folder.ts';
import { Denials, digest, type EndedCall, type HookCall, type HookThread, PromptHolds } from './hook-call.ts';
import { type CallFacts, type CallName, type ClaimedCall, OpenCalls } from './open-calls.ts';

/** Dependencies of a {@link CallLog}. */
export interface CallLogOptions {
  readonly agent: AgentName;
  /**
   * Id of the agent in all events. A subagent has the same: its type is a word in a file of the workspace, and would evade
   * the policies, rates and the revocation of its agent. It is a fact beside the id.
   */
  readonly agentId: string;
  /** Spool folder of the tenant. */
  readonly spoolFolder: string;
  readonly spool: SpoolWriter;
  /** `true` if ended calls are remembered until the end of their turn, because the agent reports them again. */
  readonly remembersEnded: boolean;
}

/** A call that has begun. */
export interface BegunCall {
  readonly name: CallName;
  readonly facts: CallFacts;
}

/** Records each call once, at its end, from what the hooks of several processes report. */
export class CallLog {
  readonly #options: CallLogOptions;
  readonly #hasher = new ArgumentsHasher();

  constructor(options: CallLogOptions) {
    this.#options = options;
  }

  /**
   * Records the start of a call.
   *
   * @throws the system's error when it cannot be written
   */
  begin(call: HookCall): BegunCall {
    const facts = { ...this.facts(call), owner: agentProcess() };
    const name = {
      ...this.#key(call, facts.argumentsHash),
      eventId: createEventId(Date.now()),
      state: 'open',
    } as const;
    this.#calls(call).add(name, facts);
    return { name, facts };
  }

  /**
   * Records that an open call runs with arguments that an approver changed.
   *
   * @throws the system's error when it cannot be written
   */
  change(call: HookCall, { name, facts }: BegunCall): BegunCall {
    const { argumentsHash } = this.facts(call);
    const changed = { ...name, ...this.#key(call, argumentsHash) };
    const changedFacts = { ...facts, argumentsHash };
    const calls = this.#calls(call);
    // A call with an id keeps its name, and its file is replaced.
    calls.add(changed, changedFacts);
    if (changed.key !== name.key) calls.remove(name);
    return { name: changed, facts: changedFacts };
  }

  /** Does the same for the open call that a permission prompt is about, which the agent reports without its id. */
  changeOpen(call: HookCall, args: unknown): void {
    const { argumentsHash, toolName } = this.facts(call);
    const calls = this.#calls(call);
    for (const name of calls.find(({ state, thread }) => state === 'open' && thread === threadDigest(call))) {
      const facts = calls.facts(name);
      if (facts?.toolName !== toolName || facts.argumentsHash !== argumentsHash) continue;
      calls.add(name, { ...facts, argumentsHash: this.hash(args) });
      return;
    }
  }

  /** Remembers the action that the agent's prompt about a call holds. */
  holdPrompt(call: HookCall, pendingActionId: string): void {
    this.#prompts(call).add(threadDigest(call), this.#sameCall(call), pendingActionId);
  }

  /** Returns the actions that were held for prompts about a call, and forgets them: the prompts are answered. */
  answeredPrompts(call: HookCall): string[] {
    return this.#prompts(call).take(threadDigest(call), this.#sameCall(call));
  }

  /** Does the same for all prompts of a thread; of a session if it has no `subagentId`. */
  endedPrompts(thread: Pick<HookThread, 'sessionId'> & Partial<HookThread>): string[] {
    const { subagentId } = thread;
    return this.#prompts(thread).take(subagentId === undefined ? undefined : threadDigest({ subagentId }));
  }

  /** Returns the hash of arguments. */
  hash(args: unknown): string {
    return this.#hasher.hashSync(args);
  }

  /** Returns the facts about a call. */
  facts(call: HookCall): CallFacts {
    return {
      agentId: this.#options.agentId,
      sessionId: call.sessionId,
      ...(call.subagent !== undefined && { subagent: call.subagent }),
      toolName: call.toolName,
      argumentsHash: this.#hasher.hashSync(call.arguments),
      // OpenTelemetry's convention for programs that a traced program starts.
      ...(process.env.TRACEPARENT && { traceparent: process.env.TRACEPARENT }),
    };
  }

  /** Records a call that was denied before it ran. */
  deny(call: HookCall, { name }: BegunCall): void {
    const calls = this.#calls(call);
    const claimed = calls.claim(name, responseStatuses.denied);
    if (claimed) this.#record(calls, claimed, this.#options.remembersEnded);
  }

  /** Records the end of a call. */
  end({ call, status }: EndedCall): void {
    const calls = this.#calls(call);
    const { remembersEnded } = this.#options;
    const known = this.#known(calls, call);
    for (const name of known.filter(({ state }) => state === 'open')) {
      const claimed = calls.claim(name, status);
      if (!claimed) continue;
      this.#record(calls, claimed, remembersEnded);
      return;
    }
    // It has ended before, and is reported again.
    if (remembersEnded && known.length > 0) return;
    this.#recordUnknown(calls, call, status);
  }

  /** Records the remaining calls of a turn, all of which have ended. */
  endTurn(ended: readonly EndedCall[]): void {
    for (const { call, status } of ended) {
      const calls = this.#calls(call);
      const known = this.#known(calls, call);
      if (known.length === 0) this.#recordUnknown(calls, call, status, false);
      for (const name of known) {
        const claimed = name.state === 'done' ? undefined : calls.claim(name, responseStatuses.denied);
        if (claimed) this.#record(calls, claimed, false);
        else calls.remove(name);
      }
    }
  }

  /** Records the open calls of a thread as ended without a result. */
  interrupt(thread: HookThread): void {
    const calls = this.#calls(thread);
    const id = threadDigest(thread);
    for (const name of calls.find((found) => found.thread === id)) {
      if (name.state === 'done') calls.remove(name);
      if (name.state !== 'open') continue;
      const claimed = calls.claim(name, responseStatuses.aborted);
      if (claimed) this.#record(calls, claimed, false);
    }
    this.denials(thread).clear();
  }

  /** Records the open calls of a session as ended without a result, and forgets the session. */
  endSession(sessionId: string): void {
    const calls = this.#calls({ sessionId });
    const isComplete = calls
      .find(({ state }) => state !== 'done')
      .every((name) => {
        const claimed = calls.claim(name, responseStatuses.aborted);
        return !claimed || this.#record(calls, claimed, false);
      });
    if (isComplete) calls.removeAll();
  }

  /** Returns the denials of a thread. */
  denials(thread: HookThread): Denials {
    return new Denials(this.#folder(thread), threadDigest(thread));
  }

  /** Returns `true` if the event is on disk; otherwise the call is kept for a later hook. */
  #record(calls: OpenCalls, claimed: ClaimedCall, isRemembered: boolean): boolean {
    const { eventId, facts, status, name } = claimed;
    if (!this.#write(eventId, facts, status)) return false;
    if (isRemembered) calls.finish(claimed);
    else calls.remove(name);
    return true;
  }

  /** Records a call whose begin no hook has reported. */
  #recordUnknown(
    calls: OpenCalls,
    call: HookCall,
    status: number,
    isRemembered = this.#options.remembersEnded,
  ) {
    const facts = this.facts(call);
    const eventId = createEventId(Date.now());
    if (!this.#write(eventId, facts, status) || !isRemembered) return;
    calls.add({ ...this.#key(call, facts.argumentsHash), eventId, state: 'done' }, facts);
  }

  #write(eventId: string, facts: CallFacts, responseStatus: number): boolean {
    const { agentId, sessionId, subagent, toolName, argumentsHash, traceparent } = facts;
    return this.#options.spool.write({
      eventId,
      agentId,
      sessionId,
      subagent,
      toolName,
      argumentsHash,
      traceparent,
      responseStatus,
      atMs: Date.now(),
    });
  }

  #known(calls: OpenCalls, call: HookCall): CallName[] {
    const hash = call.callId === undefined ? this.#hasher.hashSync(call.arguments) : '';
    const { thread, key } = this.#key(call, hash);
    return calls.find((name) => name.thread === thread && name.key === key);
  }

  #key(call: HookCall, argumentsHash: string): Pick<CallName, 'thread' | 'key'> {
    const key =
      call.callId === undefined ? digest('call', call.toolName, argumentsHash) : digest('id', call.callId);
    return { thread: threadDigest(call), key };
  }

  /** Returns a digest of a call that is the same without its id, which a prompt does not have. */
  #sameCall({ toolName, arguments: args }: HookCall): string {
    return digest('call', toolName, this.hash(args));
  }

  #prompts(session: Pick<HookThread, 'sessionId'>): PromptHolds {
    return new PromptHolds(this.#folder(session));
  }

  #calls(session: Pick<HookThread, 'sessionId'>): OpenCalls {
    return new OpenCalls(this.#folder(session));
  }

  #folder({ sessionId }: Pick<HookThread, 'sessionId'>): string {
    const { agent, spoolFolder } = this.#options;
    return sessionFolder(spoolFolder, agent, sessionId);
  }
}

function threadDigest({ subagentId }: Pick<HookThread, 'subagentId'>): string {
  return digest('thread', subagentId);
}

/** Programs that only start the hook and end with it. */
const starters = /^(?:sh|bash|dash|zsh|ksh|fish|np[mx]\b.*)$/;
/** Maximum number of such programs between the agent and the hook. */
const maxStarters = 5;

/**
 * Returns the identity of the agent that started this hook: the first parent process that is not a shell. Undefined
 * where the system does not tell (only Linux does, by proc(5)).
 */
function agentProcess(): ProcessIdentity | undefined {
  let pid = process.ppid;
  for (let depth = 0; depth <= maxStarters; depth += 1) {
    const status = statusOf(pid);
    if (!status) return undefined;
    if (!starters.test(status.name)) {
      return { machine: ownIdentity().machine, pid, startTicks: status.startTicks };
    }
    pid = status.parent;
  }
  return undefined;
}

interface Status {
  readonly name: string;
  readonly parent: number;
  readonly startTicks: number;
}

/** Reads fields 2, 4 and 22 of `/proc/pid/stat`. */
function statusOf(pid: number): Status | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name is in parentheses, and may contain anything.
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    return {
      name: stat.slice(stat.indexOf('(') + 1, end),
      parent: Number(fields[1]),
      startTicks: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}
