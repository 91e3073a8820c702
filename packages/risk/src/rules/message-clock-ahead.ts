import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** An event that claims a time that had not come. */
export const messageClockAhead: Rule = {
  id: 'message.clock-ahead',
  title: 'Event from the future',
  dimension: 'ASI07',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'An event claims a time more than five minutes after its receipt: its clock is wrong, or its order is forged.',
  weight: 0.15,
  falsePositives: 'Machines without time synchronisation.',
  recommendation: {
    title: 'Set the clock',
    text: 'Synchronise the machine’s clock. Until then do not trust the order of its events.',
  },
  detect: (view) =>
    stamped(view, 'clock_ahead', 1, 'An event claims a time that had not come when it arrived.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'read_file', stamps: ['clock_ahead'] }] }],
  quiet: [{ name: 'on time', steps: ['read_file'] }],
};
