import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf } from '../session/session-view.ts';

const manyFastApprovals = 3;

/** Detects approvals that are faster than reading. */
export const trustFastApprovals: Rule = {
  id: 'trust.fast-approvals',
  title: 'Approvals faster than reading',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency', 'LLM09:2025 Misinformation'],
  signal:
    'Three or more actions were approved within three seconds each: nobody read them, or a program approved them.',
  weight: 0.35,
  acts: ['approved_fast'],
  cluster: 'waved-through',
  falsePositives: 'Actions that the approver had just requested.',
  recommendation: {
    title: 'Slow the approval down',
    text: 'Require a comment, show the impact first, and assign approvals to people who have time for them.',
  },
  detect(view) {
    const unread = tallyOf(view, 'approved_fast');
    const fast = unread.count;
    const approved = tallyOf(view, 'approved').count;
    if (fast < manyFastApprovals || fast < approved / 2) return undefined;
    return matched(
      [firstOf(unread), lastOf(unread)],
      Math.min(1, fast / 6),
      `${counted(fast, 'action')} of ${approved} were approved within three seconds.`,
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
