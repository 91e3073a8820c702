import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects an event with a timestamp in the future. */
export const messageClockAhead: Rule = {
  id: 'message.clock-ahead',
  title: 'Event from the future',
  dimension: 'ASI07',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'The timestamp of an event is more than five minutes after its receipt: the clock is wrong or the order is forged.',
  weight: 0.15,
  falsePositives: 'Machines without time synchronization.',
  recommendation: {
    title: 'Set the clock',
    text: 'Synchronize the machine’s clock. Until then, do not trust the order of its events.',
  },
  detect: (view) =>
    stamped(view, 'clock_ahead', 1, 'The timestamp of an event was in the future when it arrived.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'read_file', stamps: ['clock_ahead'] }] }],
  quiet: [{ name: 'on time', steps: ['read_file'] }],
};
