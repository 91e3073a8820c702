import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { ENTRY_KINDS } from '../session/event-log.ts';

const APPROVED = ENTRY_KINDS.indexOf('approved');
const MANY = 5;
const SHORT_MS = 30_000;

/** Many approvals at once. */
export const trustApprovalBurst: Rule = {
  id: 'trust.approval-burst',
  title: 'Many approvals at once',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Five or more actions are approved within half a minute: they were waved through together.',
  weight: 0.25,
  cluster: 'waved-through',
  falsePositives: 'One job whose equal parts were looked at once.',
  recommendation: {
    title: 'Approve the job, not its parts',
    text: 'Hold the job as one action, so that what is approved can be read.',
  },
  detect(view) {
    const { approvals } = view.state;
    if (approvals.peak < MANY || approvals.widthMs > SHORT_MS) return undefined;
    const found = view.decisions.filter((entry) => entry.kind === APPROVED);
    return matched(
      found.length > 0 ? found : view.entries.slice(-1),
      Math.min(1, approvals.peak / 10),
      `${approvals.peak} actions were approved within ${Math.ceil(approvals.widthMs / 1000)} seconds.`,
      approvals.peak,
    );
  },
  fires: [
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
