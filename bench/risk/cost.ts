import { cpuUsage } from 'node:process';
import { emptyBaseline, emptySession, observe, type RiskEvent, score, serializeSession } from '@actlog/risk';
import { quantile } from './statistics.ts';

const EVENTS = 1_000_000;
const CHUNK = 50_000;
const SCORES = 500;
const ROUNDS = 20;
const TOOLS = [
  'search_emails',
  'read_file',
  'send_email',
  'list_issues',
  'create_file',
  'delete_row',
  'get_time',
];

function event(at: number): RiskEvent {
  return {
    eventId: `00000000-0000-7000-8000-${at.toString(16).padStart(12, '0')}`,
    agentId: 'agent',
    sessionId: 'session',
    timestampMs: 1_760_000_000_000 + at * 40,
    category: 'tool_api',
    schemaVersion: '1.0',
    toolName: TOOLS[at % TOOLS.length] as string,
    argumentsHash: Math.imul(at, 0x9e3779b1).toString(16).padStart(16, '0'),
    responseStatus: at % 17 === 0 ? 500 : 200,
  };
}

/** Processor time of this process in microseconds: what others on the machine take is not in it. */
function processorMicros(): number {
  const { user, system } = cpuUsage();
  return user + system;
}

/**
 * Median processor time (over parts of the run) per event and per score of a session of a million events, and the
 * length of its stored state.
 */
export function measureCost(): { microsPerEvent: number; microsPerScore: number; stateBytes: number } {
  const state = emptySession();
  const observing: number[] = [];
  for (let from = 0; from < EVENTS; from += CHUNK) {
    const events = Array.from({ length: CHUNK }, (_, at) => event(from + at));
    const start = processorMicros();
    for (const one of events) observe(state, one);
    observing.push((processorMicros() - start) / CHUNK);
  }
  const baseline = emptyBaseline();
  let sum = 0;
  const scoring: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = processorMicros();
    for (let left = SCORES; left > 0; left--) sum += score(state, { baseline }).score;
    scoring.push((processorMicros() - start) / SCORES);
  }
  if (Number.isNaN(sum)) throw new Error('a score is not a number');
  return {
    microsPerEvent: Math.round(quantile(observing, 0.5) * 1e3) / 1e3,
    microsPerScore: Math.round(quantile(scoring, 0.5) * 1e3) / 1e3,
    stateBytes: serializeSession(state).length,
  };
}
