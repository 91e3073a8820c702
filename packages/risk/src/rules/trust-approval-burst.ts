import { largestBurst } from '../largest-burst.ts';
import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { ENTRY_KINDS } from '../session/event-log.ts';

const APPROVED = ENTRY_KINDS.indexOf('approved');
const MANY = 5;
const SHORT_MS = 30_000;

/** Detects many approvals at once. */
export const trustApprovalBurst: Rule = {
  id: 'trust.approval-burst',
  title: 'Many approvals at once',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Five or more actions are approved within half a minute: they were probably not reviewed.',
  weight: 0.25,
  cluster: 'waved-through',
  falsePositives: 'A job with equal parts that was reviewed as a whole.',
  recommendation: {
    title: 'Approve the job, not its parts',
    text: 'Hold the job as one action, so that the approver can review it.',
  },
  detect(view) {
    const { approvals, log } = view.state;
    const all = view.decisions.filter((entry) => entry.kind === APPROVED);
    const burst = largestBurst(all, SHORT_MS);
    // Events outside the log are only known by time buckets, which are wide in a long session.
    const inStretch = log.complete || approvals.widthMs > SHORT_MS ? 0 : approvals.peak;
    const approved = Math.max(burst.length, inStretch);
    if (approved < MANY) return undefined;
    const spanMs = burst.length >= inStretch ? SHORT_MS : approvals.widthMs;
    return matched(
      burst.length >= inStretch ? burst : all.length > 0 ? all : view.entries.slice(-1),
      Math.min(1, approved / 10),
      `${approved} actions were approved within ${Math.ceil(spanMs / 1000)} seconds.`,
      approved,
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
