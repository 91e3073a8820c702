import { cpuUsage } from 'node:process';
import {
  type Baseline,
  emptyBaseline,
  emptySession,
  learn,
  observe,
  type RiskEvent,
  score,
  serializeSession,
} from '@actlog/risk';
import { quantile } from './statistics.ts';

const EVENTS = 1_000_000;
const CHUNK = 10_000;
const SCORES = 50;
const ROUNDS = 400;
/** Warm-up rounds for the compiler. */
const UNCOUNTED_ROUNDS = 100;
/** Maximum number of sessions in a baseline; a score cannot cost more. */
const FULL_PAST = 16;
const CALIBRATION_STEPS = 200_000;
/** Maximum slowdown of the calibration in a round that counts. */
const DISTURBED = 1.15;
const TOOLS = [
  'search_emails',
  'read_file',
  'send_email',
  'list_issues',
  'create_file',
  'delete_row',
  'get_time',
];

function event(at: number, sessionId = 'session'): RiskEvent {
  return {
    eventId: `00000000-0000-7000-8000-${at.toString(16).padStart(12, '0')}`,
    agentId: 'agent',
    sessionId,
    timestampMs: 1_760_000_000_000 + at * 40,
    category: 'tool_api',
    schemaVersion: '1.0',
    toolName: TOOLS[at % TOOLS.length] as string,
    argumentsHash: Math.imul(at, 0x9e3779b1).toString(16).padStart(16, '0'),
    responseStatus: at % 17 === 0 ? 500 : 200,
  };
}

function baselineOf(pastSessions: number): Baseline {
  const baseline = emptyBaseline();
  for (let past = 0; past < pastSessions; past++) {
    const state = emptySession();
    for (let at = 0; at < 12; at++) observe(state, event(at, `past ${past}`));
    learn(baseline, state, { ...score(state), level: 'low' });
  }
  return baseline;
}

/** Returns the processor time of this process in microseconds, without other processes. */
function processorMicros(work: () => void): number {
  const before = cpuUsage();
  work();
  const { user, system } = cpuUsage(before);
  return user + system;
}

let sink = 0;

function calibrate(): void {
  let mixed = 1;
  for (let step = 0; step < CALIBRATION_STEPS; step++) mixed = Math.imul(mixed ^ step, 0x01000193);
  sink += mixed;
}

/**
 * Returns the median processor time of the rounds, by task. A round counts only if a fixed loop just before and just after
 * it ran about as fast as ever: a core that shares its hardware with a busy one, or whose clock was lowered, is slower by
 * up to half.
 */
function medianMicros(rounds: number, pieces: number, work: (round: number) => () => void): number {
  const measured: { micros: number; calibration: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const prepared = work(round);
    const before = processorMicros(calibrate);
    const micros = processorMicros(prepared);
    const after = processorMicros(calibrate);
    measured.push({ micros: micros / pieces, calibration: Math.max(before, after) });
  }
  const fastest = Math.min(...measured.map(({ calibration }) => calibration));
  const calm = measured.filter(({ calibration }) => calibration <= fastest * DISTURBED);
  return quantile(
    calm.map(({ micros }) => micros),
    0.5,
  );
}

function rounded(micros: number): number {
  return Math.round(micros * 1e3) / 1e3;
}

/**
 * Measures the processor time per event and per score of a session of a million events, the latter with a history of
 * `warmup` sessions and with a full baseline (`microsPerScoreFullPast`), and the length of its stored state.
 */
export function measureCost(warmup: number): {
  microsPerEvent: number;
  microsPerScore: number;
  microsPerScoreFullPast: number;
  stateBytes: number;
} {
  const state = emptySession();
  const microsPerEvent = medianMicros(EVENTS / CHUNK, CHUNK, (round) => {
    const events = Array.from({ length: CHUNK }, (_, at) => event(round * CHUNK + at));
    return () => {
      for (const one of events) observe(state, one);
    };
  });
  const [own, full] = [warmup, FULL_PAST].map((pastSessions) => {
    const baseline = baselineOf(pastSessions);
    const scores = () => {
      for (let left = SCORES; left > 0; left--) sink += score(state, { baseline }).score;
    };
    for (let left = UNCOUNTED_ROUNDS; left > 0; left--) scores();
    return medianMicros(ROUNDS, SCORES, () => scores);
  }) as [number, number];
  if (Number.isNaN(sink)) throw new Error('a score is not a number');
  return {
    microsPerEvent: rounded(microsPerEvent),
    microsPerScore: rounded(own),
    microsPerScoreFullPast: rounded(full),
    stateBytes: serializeSession(state).length,
  };
}
