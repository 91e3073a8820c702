import { forbids } from '../denial.ts';
import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { ENTRY_KINDS } from '../session/event-log.ts';
import { tallyOf, toolName } from '../session/session-view.ts';

const CALL = ENTRY_KINDS.indexOf('call');
const APPROVED = ENTRY_KINDS.indexOf('approved');

/** Detects a denied action that was executed anyway. */
export const rogueDeniedThenDone: Rule = {
  id: 'rogue.denied-then-done',
  title: 'Denied, but executed',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'An action that a policy or a person denied was called later with the same arguments and without an approval.',
  weight: 0.95,
  deterministic: true,
  habitual: false,
  falsePositives: 'A policy that was changed or archived in between: allowed checks are not recorded.',
  recommendation: {
    title: 'Revoke the agent',
    text: 'If nobody changed or archived the policy in between, the agent ignores denials: set its status to revoked and rotate its key. Then check what the call did.',
  },
  detect(view) {
    const { complete, head } = view.state.log;
    const done = new Set(view.steps.map((step) => step.eventId));
    const kept = view.decisions.filter((entry) => entry.kind === APPROVED).length;
    const hidesApprovals = !complete && tallyOf(view, 'approved').count > kept;
    for (const [at, denied] of view.entries.entries()) {
      if (!forbids(denied)) continue;
      for (const [after, entry] of view.entries.entries()) {
        if (after <= at) continue;
        if (hidesApprovals && at < head.length && after >= head.length) break;
        if (entry.tool !== denied.tool || entry.argument !== denied.argument) continue;
        if (entry.kind === APPROVED) break;
        if (entry.kind !== CALL || !done.has(entry.eventId)) continue;
        return matched([denied, entry], 1, `${toolName(view, denied.tool)} was denied but called anyway.`);
      }
    }
    return undefined;
  },
  fires: [
    {
      name: 'denied by policy, called',
      steps: [
        { tool: 'delete_file', given: 'a', category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'delete_file', given: 'a' },
      ],
    },
  ],
  quiet: [
    {
      name: 'denied, then approved, then called',
      steps: [
        { tool: 'delete_file', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
        { tool: 'delete_file', given: 'a', category: 'guardian_decision', payload: { decision: 'approved' } },
        { tool: 'delete_file', given: 'a' },
      ],
    },
    {
      name: 'denied, and recorded as refused by an agent that obeys',
      steps: [
        { tool: 'delete_file', given: 'a', category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'delete_file', given: 'a', status: 403 },
      ],
    },
    {
      name: 'denied, then called at the end of a long session with approvals that are not kept',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
        { tool: 'calculate', times: 20 },
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'approved' } },
        { tool: 'calculate', times: 20 },
        { tool: 'pay', given: 'a' },
      ],
    },
    {
      name: 'a rate was exceeded, and the agent waited',
      steps: [
        {
          tool: 'search_web',
          given: 'a',
          category: 'guardian_decision',
          payload: { decision: 'deny', rate: { max: 2, windowSeconds: 60, per: 'agent' } },
        },
        { tool: 'search_web', given: 'a', afterMs: 60_000 },
      ],
    },
    {
      name: 'denied, another is called',
      steps: [
        { tool: 'delete_file', given: 'a', category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'delete_file', given: 'b' },
      ],
    },
  ],
};
