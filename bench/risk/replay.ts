import { createHash } from 'node:crypto';
import {
  type Baseline,
  emptyBaseline,
  emptySession,
  learn,
  observe,
  parseBaseline,
  readToolName,
  type SessionState,
  score,
  serializeBaseline,
} from '@actlog/risk';
import { callOrigins } from './call-origins.ts';
import { classOf, familyOf, hasContent, type LabeledRun } from './labeled-run.ts';

const STEP_MS = 1000;
const START_MS = Date.UTC(2026, 0, 5, 9);

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function uuid(text: string): string {
  const hex = digest(text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns the state of a run's session. The runs have no times, so their calls are a second apart.
 *
 * @param withOrigins - reports the origins of arguments, as a recorder with this option does, if the run has content
 */
export function replay(run: LabeledRun, withOrigins: boolean): SessionState {
  const state = emptySession();
  const session = digest(run.id).slice(0, 16);
  const idOf = (at: number) => uuid(`${session} ${at}`);
  const origins = withOrigins && hasContent(run) ? callOrigins(run, idOf) : [];
  for (const [at, [toolName, argumentsHash, responseStatus]] of run.events.entries()) {
    const base = {
      agentId: 'agent',
      sessionId: session,
      timestampMs: START_MS + at * STEP_MS,
      schemaVersion: '1.0',
    };
    const eventId = idOf(at);
    observe(state, { ...base, eventId, category: 'tool_api', toolName, argumentsHash, responseStatus });
    const ofCall = origins[at];
    if (ofCall === undefined || Object.keys(ofCall).length === 0) continue;
    observe(state, {
      ...base,
      eventId: uuid(`${session} origins ${at}`),
      category: 'argument_origins',
      payload: { eventId, toolName, origins: ofCall, ...((run.user ?? []).length > 0 && { userText: true }) },
    });
  }
  return state;
}

/** Returns the number of calls that act: the score that the engine must beat. */
export function actionCalls(run: LabeledRun): number {
  return run.events.filter(([toolName]) => readToolName(toolName).acts).length;
}

/** A run whose session was replayed, with the baseline of its agent. */
export interface Replayed {
  readonly run: LabeledRun;
  readonly state: SessionState;
  readonly baseline: Baseline;
}

/**
 * Replays runs, each after `warmup` benign runs of the same suite and user task by models of other families, chosen
 * by a hash. Each of these is scored against what was learned before it, and offered to the baseline.
 */
export class Replayer {
  readonly #past = new Map<string, LabeledRun[]>();
  readonly #states = new Map<LabeledRun, SessionState>();
  readonly #warmup: number;
  readonly #withOrigins: boolean;

  /**
   * @param history - runs whose benign ones may serve as history
   * @param warmup - number of past sessions
   * @param withOrigins - as for {@link replay}
   */
  constructor(history: readonly LabeledRun[], warmup: number, withOrigins = false) {
    this.#warmup = warmup;
    this.#withOrigins = withOrigins;
    for (const run of history) {
      if (classOf(run) !== 'benign') continue;
      const key = `${run.suite} ${run.user_task}`;
      const runs = this.#past.get(key) ?? [];
      runs.push(run);
      this.#past.set(key, runs);
    }
  }

  /** Replays runs. */
  replayAll(runs: readonly LabeledRun[]): Replayed[] {
    return runs.map((run) => this.replay(run));
  }

  /** Replays one run. */
  replay(run: LabeledRun): Replayed {
    let frozen = serializeBaseline(emptyBaseline());
    for (const past of this.#pastOf(run)) {
      const baseline = parseBaseline(frozen);
      const state = this.#stateOf(past);
      learn(baseline, state, score(state, { baseline: parseBaseline(frozen) }));
      frozen = serializeBaseline(baseline);
    }
    return { run, state: this.#stateOf(run), baseline: parseBaseline(frozen) };
  }

  #stateOf(run: LabeledRun): SessionState {
    const state = this.#states.get(run) ?? replay(run, this.#withOrigins);
    this.#states.set(run, state);
    return state;
  }

  #pastOf(run: LabeledRun): LabeledRun[] {
    const family = familyOf(run.model);
    return (this.#past.get(`${run.suite} ${run.user_task}`) ?? [])
      .filter((past) => familyOf(past.model) !== family && past.id !== run.id)
      .map((past) => ({ past, order: digest(`${run.id}\n${past.id}`) }))
      .sort((a, b) => (a.order < b.order ? -1 : 1))
      .slice(0, this.#warmup)
      .map(({ past }) => past);
  }
}
