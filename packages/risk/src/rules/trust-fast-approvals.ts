import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { UNREAD } from '../session/mark.ts';
import { tallyOf } from '../session-view.ts';

const MANY = 3;

/** Approvals faster than anybody reads. */
export const trustFastApprovals: Rule = {
  id: 'trust.fast-approvals',
  title: 'Approvals faster than reading',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency', 'LLM09:2025 Misinformation'],
  signal:
    'Three or more actions were approved within three seconds each: nobody read them, or a program approves.',
  weight: 0.35,
  cluster: 'waved-through',
  falsePositives: 'Actions that the approver had asked for a moment before.',
  recommendation: {
    title: 'Slow the approval down',
    text: 'Ask for a comment, show what is at stake first, and give approvals to people with time for them.',
  },
  detect(view) {
    const fast = tallyOf(view, 'approved_fast').count;
    const approved = tallyOf(view, 'approved').count;
    if (fast < MANY || fast < approved / 2) return undefined;
    const found = view.decisions.filter((entry) => entry.outcome === UNREAD);
    return matched(
      found.length > 0 ? found : [{ eventId: tallyOf(view, 'approved_fast').firstId }],
      Math.min(1, fast / 6),
      `${counted(fast, 'action')} of ${approved} that were approved had been looked at for less than three seconds.`,
      fast,
    );
  },
  fires: [
    {
      name: 'four approvals in a second each',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 900 },
          times: 4,
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'four approvals in a minute each',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 60000 },
          times: 4,
        },
      ],
    },
    {
      name: 'one fast approval',
      steps: [{ tool: 'pay', category: 'guardian_decision', payload: { decision: 'approved', heldMs: 900 } }],
    },
  ],
};
