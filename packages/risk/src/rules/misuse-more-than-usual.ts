import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { toolName } from '../session-view.ts';

/** More actions than this workflow ever took. */
export const misuseMoreThanUsual: Rule = {
  id: 'misuse.more-than-usual',
  title: 'More actions than this workflow ever took',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'The agent acts more often, by a tool or altogether, than in any past session like this one.',
  weight: 0.55,
  habitual: false,
  falsePositives: 'A larger job than before; failed calls that were repeated.',
  recommendation: {
    title: 'Account for the extra actions',
    text: 'Go through the actions beyond the usual number and see whom they served.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || view.acts.length === 0) return undefined;
    const acts = view.tools.filter(([hash]) => view.acts.some((step) => step.tool === hash));
    const usual = (hash: number) => Math.max(...expected.near.map((past) => past.tools.get(hash) ?? 0));
    const over = acts.filter(([hash, tool]) => tool.count > usual(hash));
    if (over.length === 0) return undefined;
    const total = acts.reduce((sum, [, tool]) => sum + tool.count, 0);
    const usualTotal = Math.max(...expected.near.map((past) => past.acts));
    const overHashes = new Set(over.map(([hash]) => hash));
    const found = view.acts.filter((step) => overHashes.has(step.tool));
    const strength = (total > usualTotal ? 1 : 0.6) * expected.confidence;
    const extra = over.reduce((sum, [hash, tool]) => sum + tool.count - usual(hash), 0);
    return matched(
      found.toReversed().slice(0, 5).toReversed(),
      strength,
      `${counted(extra, 'action')} more than in any past session like this one, by ${toolName(view, over[0]?.[0] as number)}.`,
      extra,
    );
  },
  fires: [
    {
      name: 'two messages where there was one',
      steps: ['read_inbox', 'send_message', 'send_message'],
      history: [
        ['read_inbox', 'send_message'],
        ['read_inbox', 'send_message'],
      ],
    },
  ],
  quiet: [
    {
      name: 'as many as before',
      steps: ['read_inbox', 'send_message'],
      history: [['read_inbox', 'send_message', 'send_message']],
    },
    { name: 'more reading', steps: ['read_inbox', 'read_inbox'], history: [['read_inbox']] },
  ],
};
