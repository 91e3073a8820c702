import type { PendingAction, QueryOf } from '@actlog/protocol';
import type { Clock } from '../client-options.ts';
import { type ActlogError, invalidValue } from '../errors/actlog-error.ts';
import type { ItemSequence } from '../pagination/item-sequence.ts';
import { pendingActionIdOf } from '../records/id-of.ts';
import type { ListOptions } from '../request/request-options.ts';
import type { Settings } from '../settings.ts';

/** Lists held actions: `client.guardian.pendingActions`. */
interface ActionLister {
  list(
    query: QueryOf<'guardian.pendingActions.list'>,
    options: ListOptions,
  ): Pick<ItemSequence<PendingAction>, 'toArray'>;
}

/** Factor by which the delay grows with each poll that finds nothing new. */
const slowdown = 1.5;

/**
 * Number of polls for which an action that left the list is remembered. A service whose pages shift while actions are
 * added may leave one out of a poll.
 */
const rememberedPolls = 10;

/** Statuses of an action that is no longer pending, in a list that contains decided ones too. */
const final: readonly unknown[] = ['approved', 'denied', 'expired', 'withdrawn'];

/**
 * Watches for pending actions; see `PendingActions.watch`.
 *
 * @param left Aborted when the loop has ended.
 */
export async function* watchPendingActions(
  actions: ActionLister,
  { clock, logger }: Settings,
  options: WatchOptions,
  left: AbortSignal,
): AsyncGenerator<PendingAction, undefined> {
  const { agentId, sessionId, intervalMs = 2_000, maxIntervalMs = 15_000, idKey, ...rest } = options;
  requirePositive('intervalMs', intervalMs);
  requirePositive('maxIntervalMs', maxIntervalMs);
  const signal = eitherSignal(options.signal, left);
  const list = () => actions.list({ agentId, sessionId }, { ...rest, signal }).toArray();
  const unseen = new UnseenActions(idKey);
  let delayMs = intervalMs;
  while (!signal.aborted) {
    let leastMs = 0;
    let appeared: PendingAction[] = [];
    try {
      appeared = unseen.of(await list());
      delayMs = appeared.length > 0 ? intervalMs : Math.min(delayMs * slowdown, maxIntervalMs);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isTransient(error)) throw error;
      const { code, status, requestId, retryAfterMs = 0 } = error;
      leastMs = retryAfterMs;
      delayMs = Math.min(delayMs * 2, maxIntervalMs);
      const fields = { code, status, requestId, delayMs: Math.max(leastMs, delayMs) };
      logger.log('warn', 'pending actions could not be listed; trying again', fields);
    }
    for (const action of appeared) {
      if (signal.aborted) return undefined;
      yield action;
    }
    // At random, so that watchers that were started together do not poll together.
    await pause(clock, signal, Math.max(leastMs, delayMs * (0.75 + clock.random() / 4)));
  }
  return undefined;
}

/** Remembers the actions of earlier polls. */
class UnseenActions {
  readonly #idKey: string | undefined;
  /** Number of the last poll that listed an action, by its id. */
  readonly #lastPoll = new Map<string, number>();
  #poll = 0;

  constructor(idKey: string | undefined) {
    this.#idKey = idKey;
  }

  /** Returns the pending actions that no earlier poll listed, oldest first. */
  of(listed: readonly PendingAction[]): PendingAction[] {
    this.#poll += 1;
    const unseen: PendingAction[] = [];
    for (const action of listed) {
      const id = pendingActionIdOf(action, this.#idKey);
      if (!this.#lastPoll.has(id) && !final.includes(action.status)) unseen.push(action);
      this.#lastPoll.set(id, this.#poll);
    }
    for (const [id, poll] of this.#lastPoll) {
      if (poll < this.#poll - rememberedPolls) this.#lastPoll.delete(id);
    }
    // The reference server lists the newest first.
    return unseen.sort(byCreation);
  }
}

function byCreation(left: PendingAction, right: PendingAction): number {
  return String(left.createdAt ?? '').localeCompare(String(right.createdAt ?? ''));
}

/** `true` for a broken connection, a time limit, 429 and 5xx, after the retries of the call. */
function isTransient(error: unknown): error is ActlogError {
  // By code and not by class: this module is loaded on demand, and the classes belong to what is loaded at once.
  const { code, status = 0 } = (error ?? {}) as Partial<ActlogError>;
  return code === 'CONNECTION_FAILED' || code === 'TIMEOUT' || status === 429 || status >= 500;
}

/** @throws InvalidArgumentError When the caller's signal is something else, such as the controller that owns it. */
function eitherSignal(given: AbortSignal | undefined, left: AbortSignal): AbortSignal {
  if (!given) return left;
  if (given instanceof AbortSignal) return AbortSignal.any([given, left]);
  throw invalidValue('signal', 'an AbortSignal (pass controller.signal, not the controller)', given);
}

/** Waits until the delay is over or the signal is aborted. */
function pause(clock: Clock, signal: AbortSignal, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimeout(end, delayMs);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** @throws InvalidArgumentError When an interval is not a positive number, which would poll without a pause. */
function requirePositive(field: string, value: number): void {
  if (Number.isFinite(value) && value > 0) return;
  throw invalidValue(field, 'a positive number of milliseconds', value);
}

/** Options of `client.guardian.pendingActions.watch`. Request options apply to each request for the list. */
export interface WatchOptions extends ListOptions {
  /** Ends the loop, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Only actions of this agent. */
  readonly agentId?: string | undefined;
  /** Only actions of this session. */
  readonly sessionId?: string | undefined;
  /** Delay between two requests for the list while actions appear, in milliseconds. Default 2,000. */
  readonly intervalMs?: number | undefined;
  /** Longest delay between two requests while none appear, in milliseconds. Default 15,000. */
  readonly maxIntervalMs?: number | undefined;
  /** Name of the field with the id of an action, if the service has one that `idOf` does not recognize. */
  readonly idKey?: string | undefined;
}
