import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';

/** Detects a call that is refused for missing permissions and later succeeds. */
export const privilegeRefusedThenGranted: Rule = {
  id: 'privilege.refused-then-granted',
  title: 'Refused for missing permissions, then allowed',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'A tool returns 401 or 403, and later in the session the same tool succeeds.',
  weight: 0.3,
  falsePositives: 'An expired token that was renewed; another object that the agent may access.',
  recommendation: {
    title: 'Find out where the permission came from',
    text: 'Check what happened between the refusal and the success. If a key or role was changed in between, revoke it.',
  },
  detect(view) {
    for (const tools of [view.state.acting, view.state.looking]) {
      for (const [hash, { firstRefusedMs, lastSuccessMs }] of tools.entries()) {
        if (firstRefusedMs === 0 || lastSuccessMs <= firstRefusedMs) continue;
        if (view.actions.some((action) => action.stopped && action.tool === hash)) continue;
        return matched(
          [firstOf(tallyOf(view, 'unauthorized'))],
          1,
          `${toolName(view, hash)} was refused for missing permissions, and later succeeded.`,
          2,
        );
      }
    }
    return undefined;
  },
  fires: [
    {
      name: '403, then 200',
      steps: [
        { tool: 'get_record', given: 'a', status: 403 },
        'list_tools',
        { tool: 'get_record', given: 'a' },
      ],
    },
    { name: '401, then another object', steps: [{ tool: 'get_record', status: 401 }, 'get_record'] },
  ],
  quiet: [
    {
      name: 'a person denied it, then approved',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
        { tool: 'pay', given: 'a', status: 403 },
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'approved' } },
        { tool: 'pay', given: 'a' },
      ],
    },
    { name: '500, then 200', steps: [{ tool: 'get_record', status: 500 }, 'get_record'] },
    { name: '200, then 403', steps: ['get_record', { tool: 'get_record', status: 403 }] },
  ],
};
