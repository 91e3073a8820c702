import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf } from '../session/session-view.ts';

const manyApprovals = 5;
const shortMs = 30_000;

/** Detects many approvals at once. */
export const trustApprovalBurst: Rule = {
  id: 'trust.approval-burst',
  title: 'Many approvals at once',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'Five or more actions are approved within half a minute, or more than twenty-four in the session: they were probably not reviewed.',
  weight: 0.25,
  acts: ['approved'],
  cluster: 'waved-through',
  falsePositives: 'A job with equal parts that was reviewed as a whole.',
  recommendation: {
    title: 'Approve the job, not its parts',
    text: 'Hold the job as one action, so that the approver can review it.',
  },
  detect(view) {
    const approved = view.state.approvals.densest(shortMs);
    if (approved < manyApprovals) return undefined;
    const approvals = tallyOf(view, 'approved');
    return matched(
      [firstOf(approvals), lastOf(approvals)],
      Math.min(1, approved / 10),
      `${approved} actions were approved within a short time.`,
      approvals.count,
    );
  },
  fires: [
    {
      name: 'six within a second, and one an hour later',
      steps: [100, 100, 100, 100, 100, 100, 3_600_000].map((afterMs) => ({
        tool: 'pay',
        category: 'guardian_decision',
        payload: { decision: 'approved', heldMs: 90000 },
        afterMs,
      })),
    },
    {
      name: 'eight within a second',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 90000 },
          times: 8,
          afterMs: 100,
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'eight, a minute apart',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 90000 },
          times: 8,
          afterMs: 60_000,
        },
      ],
    },
  ],
};
