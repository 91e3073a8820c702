import { startHour } from '../baseline/past-session.ts';
import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf } from '../session/session-view.ts';

const enough = 10;
const nearHours = 3;

/** Detects activity at an unusual hour. */
export const rogueOffHours: Rule = {
  id: 'rogue.off-hours',
  title: 'Active at an unusual hour',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'The session takes actions, and starts more than three hours away from the start hours of ten or more past sessions.',
  weight: 0.15,
  habitual: false,
  falsePositives: 'Late work, and people in other time zones.',
  recommendation: {
    title: 'Find out who started it',
    text: 'Find out what started the session. If it was not started on purpose, rotate the agent’s key.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined || expected.all.length < enough || tallyOf(view, 'act').count === 0)
      return undefined;
    const hour = startHour(view.state);
    const near = expected.all.some((past) => {
      const apart = Math.abs(past.hour - hour);
      return Math.min(apart, 24 - apart) <= nearHours;
    });
    if (near) return undefined;
    return matched(
      [firstOf(tallyOf(view, 'call'))],
      1,
      `The session started in the hour of ${hour}:00 UTC, at which this agent was never active.`,
    );
  },
  fires: [
    {
      name: 'twelve mornings, then a night',
      steps: [{ tool: 'read_file', afterMs: 12 * 3_600_000 }, 'write_file'],
      history: Array.from({ length: 12 }, () => ['read_file', 'write_file']),
    },
  ],
  quiet: [
    {
      name: 'one more morning',
      steps: ['read_file', 'write_file'],
      history: Array.from({ length: 12 }, () => ['read_file', 'write_file']),
    },
    {
      name: 'three mornings are too few',
      steps: [{ tool: 'read_file', afterMs: 12 * 3_600_000 }, 'write_file'],
      history: Array.from({ length: 3 }, () => ['read_file', 'write_file']),
    },
  ],
};
