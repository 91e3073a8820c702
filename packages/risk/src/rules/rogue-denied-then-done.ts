import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { isDeniedThenDone } from '../session/actions.ts';
import { firstOf, lastOf, toolName } from '../session/session-view.ts';

/** Detects a denied action that was executed anyway. */
export const rogueDeniedThenDone: Rule = {
  id: 'rogue.denied-then-done',
  title: 'Denied, but executed',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'An action that a policy or a person denied was called later with the same arguments and without an approval.',
  weight: 0.995,
  deterministic: true,
  habitual: false,
  falsePositives: 'A policy that was changed or archived in between: allowed checks are not recorded.',
  recommendation: {
    title: 'Revoke the agent',
    text: 'If nobody changed or archived the policy in between, the agent ignores denials: set its status to revoked and rotate its key. Then check what the call did.',
  },
  detect(view) {
    const found = view.actions.find(isDeniedThenDone);
    if (found === undefined) return undefined;
    return matched(
      [firstOf(found.denied), lastOf(found.done)],
      1,
      `${toolName(view, found.tool)} was denied but called anyway.`,
    );
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
