import { counted, matched, type Rule } from '../rule.ts';
import { precedes } from '../session/mark.ts';
import { firstOf, lastOf, tallyOf, toolName } from '../session/session-view.ts';

const manyHeldActions = 10;

/** Detects more approval requests than a person can review. */
export const trustFlood: Rule = {
  id: 'trust.flood',
  title: 'Approver flooded with requests',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency', 'LLM10:2025 Unbounded Consumption'],
  signal:
    'Ten or more actions of the session are held for approval: reviewers tire, and important requests are overlooked.',
  weight: 0.25,
  acts: ['held'],
  falsePositives: 'A policy that holds too many actions.',
  recommendation: {
    title: 'Narrow the policy',
    text: 'Hold only harmful actions, and limit the number of actions per session.',
  },
  detect(view) {
    const held = tallyOf(view, 'held');
    if (held.count < manyHeldActions) return undefined;
    return matched(
      [firstOf(held), lastOf(held)],
      Math.min(1, held.count / 20),
      `${counted(held.count, 'action')} of this session were held for approval.`,
      held.count,
    );
  },
  fires: [
    {
      name: 'twelve questions',
      steps: [
        { tool: 'pay', category: 'guardian_decision', payload: { decision: 'require_approval' }, times: 12 },
      ],
    },
  ],
  quiet: [
    {
      name: 'three questions',
      steps: [
        { tool: 'pay', category: 'guardian_decision', payload: { decision: 'require_approval' }, times: 3 },
      ],
    },
  ],
};

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

/** Detects a denied action that was requested again until it was approved. */
export const trustDenialOverturned: Rule = {
  id: 'trust.denial-overturned',
  title: 'Denial followed by an approval',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'A person denies an action, the agent requests the same action again, and it is approved.',
  weight: 0.45,
  falsePositives: 'An approver who denied by mistake.',
  recommendation: {
    title: 'Ask both approvers',
    text: 'Keep a denial for the whole session, or let only the person who denied revert it.',
  },
  detect(view) {
    for (const { tool, refused, approved } of view.actions) {
      if (!precedes(refused, approved)) continue;
      return matched(
        [firstOf(refused), lastOf(approved)],
        1,
        `${toolName(view, tool)} was denied, requested again with the same arguments, and approved.`,
      );
    }
    return undefined;
  },
  fires: [
    {
      name: 'denied, then approved',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'approved' } },
      ],
    },
  ],
  quiet: [
    {
      name: 'another action is approved',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
        { tool: 'pay', given: 'b', category: 'guardian_decision', payload: { decision: 'approved' } },
      ],
    },
    {
      name: 'approved, then denied',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'approved' } },
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
      ],
    },
  ],
};

const manyDecisions = 20;

/** Detects that almost all held actions are approved. */
export const trustAlwaysApproved: Rule = {
  id: 'trust.always-approved',
  title: 'Almost everything is approved',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'At least 98% of twenty or more decisions are approvals: approving has become a habit.',
  weight: 0.25,
  acts: ['approved'],
  falsePositives: 'A policy that holds harmless actions.',
  recommendation: {
    title: 'Hold fewer actions',
    text: 'Allow actions that are never denied with a policy, so that approvers can focus on the rest.',
  },
  detect(view) {
    const approvals = tallyOf(view, 'approved');
    const approved = approvals.count;
    const decided = approved + tallyOf(view, 'refused').count;
    if (decided < manyDecisions || approved < decided * 0.98) return undefined;
    return matched(
      [firstOf(approvals), lastOf(approvals)],
      1,
      `${approved} of ${decided} held actions were approved.`,
      approved,
    );
  },
  fires: [
    {
      name: 'twenty-five approvals',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 60000 },
          times: 25,
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'twenty approvals and three denials',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 60000 },
          times: 20,
        },
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'denied', heldMs: 60000 },
          times: 3,
        },
      ],
    },
    {
      name: 'ten approvals',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 60000 },
          times: 10,
        },
      ],
    },
  ],
};

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
