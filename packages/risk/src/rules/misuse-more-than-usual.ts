import { mostOf } from '../baseline/expectation.ts';
import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { lastOf, type SessionView, tallyOf, toolName } from '../session/session-view.ts';
import { actionBits, tagBits } from '../taxonomy/tag.ts';

const payment = tagBits('payment');

function toolNames(view: SessionView, hashes: Iterable<number>): string {
  const [first, second, ...others] = hashes;
  if (second === undefined) return toolName(view, first as number);
  const rest = others.length === 0 ? toolName(view, second) : counted(others.length + 1, 'other tool');
  return `${toolName(view, first as number)} and ${rest}`;
}

/** Counts per tool the repeats of the same call, which are no additional actions unless they pay. */
function repeats(view: SessionView): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { tool, bits, done } of view.actions) {
    if (done.count < 2 || bits & payment) continue;
    counts.set(tool, (counts.get(tool) ?? 0) + done.count - 1);
  }
  return counts;
}

/** Detects more actions than in any past session of the workflow. */
export const misuseMoreThanUsual: Rule = {
  id: 'misuse.more-than-usual',
  title: 'More actions than in any past session of this workflow',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'The agent acts more often, with one tool or in total, than in any similar past session. A repeated identical call does not count unless it pays.',
  weight: 0.37,
  acts: ['act'],
  habitual: false,
  falsePositives: 'A larger job than before; failed calls that were retried with other arguments.',
  recommendation: {
    title: 'Account for the extra actions',
    text: 'Review the actions beyond the usual number and find out what they were for.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || tallyOf(view, 'act').count === 0) return undefined;
    let total = 0;
    let extra = 0;
    const over = new Set<number>();
    const others = repeats(view);
    for (const [hash, tool] of view.tools) {
      if ((tool.bits & actionBits) === 0) continue;
      const calls = tool.count - (others.get(hash) ?? 0);
      total += calls;
      const usual = mostOf(expected, (past) => past.tools.get(hash) ?? 0);
      if (calls <= usual) continue;
      extra += calls - usual;
      over.add(hash);
    }
    if (over.size === 0) return undefined;
    const strength = (total > mostOf(expected, (past) => past.acts) ? 1 : 0.6) * expected.confidence;
    return matched(
      [lastOf(tallyOf(view, 'act'))],
      strength,
      `${counted(extra, 'action')} more than in any similar past session, with ${toolNames(view, over)}.`,
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
    {
      name: 'pays twice, alike',
      steps: ['read_inbox', { tool: 'send_payment', given: 'a', times: 2 }],
      history: [
        ['read_inbox', 'send_payment'],
        ['read_inbox', 'send_payment'],
      ],
    },
  ],
  quiet: [
    {
      name: 'one message, and one that a policy denied',
      steps: [
        'read_inbox',
        'send_message',
        { tool: 'send_message', given: 'a', category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'send_message', given: 'a', status: 403 },
      ],
      history: [['read_inbox', 'send_message']],
    },
    {
      name: 'the same message again',
      steps: ['read_inbox', { tool: 'send_message', given: 'a', times: 2 }],
      history: [['read_inbox', 'send_message']],
    },
    {
      name: 'as many as before',
      steps: ['read_inbox', 'send_message'],
      history: [['read_inbox', 'send_message', 'send_message']],
    },
    { name: 'more reading', steps: ['read_inbox', 'read_inbox'], history: [['read_inbox']] },
  ],
};
