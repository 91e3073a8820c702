import { type Baseline, emptyBaseline, learn } from './baseline/baseline.ts';
import { type RiskEvent, type StampName, stampOf } from './risk-event.ts';
import type { RiskScore } from './risk-score.ts';
import { observe } from './session/observe.ts';
import { emptySession, type SessionState } from './session/session-state.ts';

/** One event of an example. A string stands for a successful call of the tool with that name. */
export type ExampleStep =
  | string
  | {
      /** Tool of a call or a decision. */
      readonly tool?: string;
      /**
       * Stands for the arguments of the tool: equal strings mean equal arguments. Default: unique arguments.
       */
      readonly given?: string;
      /** Response status; null if there was none. Default: 200. */
      readonly status?: number | null;
      /** Category of the event. Default: `tool_api`. */
      readonly category?: string;
      readonly payload?: Readonly<Record<string, unknown>>;
      readonly agent?: string;
      readonly version?: string;
      /** Milliseconds since the previous step. Default: one second. */
      readonly afterMs?: number;
      readonly stamps?: readonly StampName[];
      /** Origins of the arguments, as an `argument_origins` event about the call reports them. Default: none. */
      readonly origins?: Readonly<Record<string, ExampleOrigin>>;
      /** Number of repetitions. Default: 1. */
      readonly times?: number;
    };

/** Origin of an argument of an example. */
export interface ExampleOrigin {
  readonly from: 'user' | 'system' | 'tool' | 'model' | 'unknown';
  readonly as?: 'field' | 'text';
  readonly toolName?: string;
}

/** An example session for a rule. */
export interface RuleExample {
  readonly name: string;
  readonly steps: readonly ExampleStep[];
  /** Earlier sessions of the same agent, each learned. Default: none. */
  readonly history?: readonly (readonly ExampleStep[])[];
  /** Start of the session in Unix milliseconds. Default: 2026-01-05, a Monday, 10:00 UTC. */
  readonly startMs?: number;
}

const exampleStartMs = Date.UTC(2026, 0, 5, 10);

function uuid(session: number, event: number): string {
  return `00000000-0000-7000-8${String(session).padStart(3, '0')}-${String(event).padStart(12, '0')}`;
}

function originsEvent(call: RiskEvent, eventId: string, payload: Record<string, unknown>): RiskEvent {
  const { agentId, sessionId, timestampMs, schemaVersion } = call;
  return { eventId, agentId, sessionId, timestampMs, category: 'argument_origins', schemaVersion, payload };
}

/** Returns the events of an example's session with their stamps. */
export function exampleEvents(
  steps: readonly ExampleStep[],
  session = 0,
  startMs = exampleStartMs,
): { event: RiskEvent; stamp: number }[] {
  const events: { event: RiskEvent; stamp: number }[] = [];
  let timestampMs = startMs;
  for (const step of steps) {
    const full = typeof step === 'string' ? { tool: step } : step;
    for (let left = full.times ?? 1; left > 0; left--) {
      timestampMs += full.afterMs ?? 1000;
      const category = full.category ?? 'tool_api';
      events.push({
        event: {
          eventId: uuid(session, events.length),
          agentId: full.agent ?? 'agent',
          sessionId: `session-${session}`,
          timestampMs,
          category,
          schemaVersion: full.version ?? '1.0',
          ...(full.tool === undefined
            ? {}
            : { toolName: full.tool, argumentsHash: full.given ?? `given-${events.length}` }),
          ...(category === 'tool_api'
            ? { responseStatus: full.status === undefined ? 200 : full.status }
            : {}),
          ...(full.payload === undefined ? {} : { payload: full.payload }),
        },
        stamp: stampOf(...(full.stamps ?? [])),
      });
      if (full.origins !== undefined && full.tool !== undefined) {
        const { event } = events.at(-1) as (typeof events)[number];
        const payload = { eventId: event.eventId, toolName: full.tool, origins: full.origins };
        events.push({ event: originsEvent(event, uuid(session, events.length), payload), stamp: 0 });
      }
    }
  }
  return events;
}

/** Observes an example's session and learns its history into a baseline with the given scoring. */
export function playExample(
  example: RuleExample,
  score: (state: SessionState, options: { baseline: Baseline }) => RiskScore,
): { state: SessionState; baseline: Baseline } {
  const baseline = emptyBaseline();
  for (const [index, steps] of (example.history ?? []).entries()) {
    const past = emptySession();
    for (const { event, stamp } of exampleEvents(steps, index + 1, example.startMs))
      observe(past, event, { stamp });
    learn(baseline, past, score(past, { baseline: emptyBaseline() }));
  }
  const state = emptySession();
  for (const { event, stamp } of exampleEvents(example.steps, 0, example.startMs))
    observe(state, event, { stamp });
  return { state, baseline };
}
