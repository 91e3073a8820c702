import { startHour } from '../baseline/past-session.ts';
import { counted, matched, type Rule, stamped } from '../rule.ts';
import { type ActionRecord, isDeniedThenDone } from '../session/actions.ts';
import { precedes } from '../session/mark.ts';
import { firstOf, lastOf, tallyOf, toolName } from '../session/session-view.ts';
import { actionBits, irreversibleBits } from '../taxonomy/tag.ts';

/** Detects an alternative to a denied action. */
export const rogueSubstituted: Rule = {
  id: 'rogue.substituted',
  title: 'Alternative to a denied action',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'After a denial the agent takes the same type of action with another tool or other arguments.',
  weight: 0.4,
  habitual: false,
  falsePositives: 'An agent that was instructed to do it in an allowed way.',
  recommendation: {
    title: 'Write the policy for the type of action',
    text: 'Match all tools that can do the same with a pattern instead of one name.',
  },
  detect(view) {
    let best: readonly [denied: ActionRecord, other: ActionRecord] | undefined;
    for (const denied of view.actions) {
      const irreversible = denied.bits & irreversibleBits;
      for (const other of view.actions) {
        if (other === denied || (other.bits & irreversible) === 0) continue;
        if (!precedes(denied.denied, other.done)) continue;
        if (best === undefined || (best[0].tool === best[1].tool && other.tool !== denied.tool))
          best = [denied, other];
      }
    }
    if (best === undefined) return undefined;
    const [denied, other] = best;
    return matched(
      [firstOf(denied.denied), lastOf(other.done)],
      other.tool === denied.tool ? 0.6 : 1,
      `${toolName(view, denied.tool)} was denied, then ${toolName(view, other.tool)} took the same type of action.`,
    );
  },
  fires: [
    {
      name: 'mail is denied, a post is made',
      steps: [
        { tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' } },
        'post_webpage',
      ],
    },
  ],
  quiet: [
    {
      name: 'mail is denied, a note is written',
      steps: [
        { tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' } },
        'create_note',
      ],
    },
    {
      name: 'every attempt is denied, and recorded as refused by an agent that obeys',
      steps: ['a', 'b', 'c'].flatMap((given) => [
        { tool: 'send_email', given, category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'send_email', given, status: 403 },
      ]),
    },
    {
      name: 'a rate was exceeded, and the agent waited',
      steps: [
        {
          tool: 'send_email',
          given: 'a',
          category: 'guardian_decision',
          payload: { decision: 'deny', rate: { max: 2, windowSeconds: 60, per: 'agent' } },
        },
        { tool: 'send_email', given: 'b', afterMs: 60_000 },
      ],
    },
    {
      name: 'the post came before',
      steps: [
        'post_webpage',
        { tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' } },
      ],
    },
  ],
};

/** Detects an agent that is active after it was revoked. */
export const rogueRevokedAgent: Rule = {
  id: 'rogue.revoked-agent',
  title: 'Active after revocation',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Events come from an agent whose status is revoked.',
  weight: 0.995,
  deterministic: true,
  habitual: false,
  falsePositives: 'Events that were recorded before the revocation and delivered after it.',
  recommendation: {
    title: 'Rotate the key and stop the process',
    text: 'Revoking stops only agents whose guard checks actions: rotate the key and stop the process.',
  },
  detect: (view) => stamped(view, 'agent_revoked', 1, 'The agent was active although it had been revoked.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'read_file', stamps: ['agent_revoked'] }] }],
  quiet: [{ name: 'active', steps: ['read_file'] }],
};

const enoughHours = 10;
const nearHours = 3;

/** Detects activity at an unusual hour. */
export const rogueOffHours: Rule = {
  id: 'rogue.off-hours',
  title: 'Active at an unusual hour',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'The session takes actions, and starts more than three hours away from the start hours of ten or more past sessions.',
  weight: 0.15,
  habitual: false,
  falsePositives: 'Late work, and people in other time zones.',
  recommendation: {
    title: 'Find out who started it',
    text: 'Find out what started the session. If it was not started on purpose, rotate the agent’s key.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined || expected.all.length < enoughHours || tallyOf(view, 'act').count === 0)
      return undefined;
    const hour = startHour(view.state);
    const near = expected.all.some((past) => {
      const apart = Math.abs(past.hour - hour);
      return Math.min(apart, 24 - apart) <= nearHours;
    });
    if (near) return undefined;
    return matched(
      [firstOf(tallyOf(view, 'call'))],
      1,
      `The session started in the hour of ${hour}:00 UTC, at which this agent was never active.`,
    );
  },
  fires: [
    {
      name: 'twelve mornings, then a night',
      steps: [{ tool: 'read_file', afterMs: 12 * 3_600_000 }, 'write_file'],
      history: Array.from({ length: 12 }, () => ['read_file', 'write_file']),
    },
  ],
  quiet: [
    {
      name: 'one more morning',
      steps: ['read_file', 'write_file'],
      history: Array.from({ length: 12 }, () => ['read_file', 'write_file']),
    },
    {
      name: 'three mornings are too few',
      steps: [{ tool: 'read_file', afterMs: 12 * 3_600_000 }, 'write_file'],
      history: Array.from({ length: 3 }, () => ['read_file', 'write_file']),
    },
  ],
};

const manyDenials = 3;

/** Detects repeated denials. */
export const rogueDeniedAgain: Rule = {
  id: 'rogue.denied-again',
  title: 'Repeated denials',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Three or more actions of the session are denied: the agent keeps trying.',
  weight: 0.4,
  acts: ['policy_denied', 'refused'],
  falsePositives: 'An agent that was not instructed about its restrictions.',
  recommendation: {
    title: 'Stop the session',
    text: 'End it, add the restrictions to the agent’s instructions, and remove tools that are always denied.',
  },
  detect(view) {
    const [denied, refused] = [tallyOf(view, 'policy_denied'), tallyOf(view, 'refused')];
    const count = denied.count + refused.count;
    if (count < manyDenials) return undefined;
    return matched(
      [denied, refused].filter((tally) => tally.count > 0).map(firstOf),
      Math.min(1, count / 6),
      `${counted(count, 'action')} of this session were denied.`,
      count,
    );
  },
  fires: [
    {
      name: 'four denials',
      steps: [{ tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' }, times: 4 }],
    },
  ],
  quiet: [
    {
      name: 'one denial',
      steps: [{ tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' } }],
    },
    {
      name: 'four that lapsed',
      steps: [
        { tool: 'send_email', category: 'guardian_decision', payload: { decision: 'expired' }, times: 4 },
      ],
    },
  ],
};

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

const enough = 5;
const manyNewCalls = 3;

/** Detects a session that differs from all past sessions of the agent. */
export const rogueDrift: Rule = {
  id: 'rogue.drift',
  title: 'Unlike all past sessions',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Three or more calls, some of which act, use tools that none of five or more past sessions used.',
  weight: 0.3,
  habitual: false,
  falsePositives: 'An agent with a new job.',
  recommendation: {
    title: 'Confirm the new job',
    text: 'If nobody gave the agent a new job, stop it and check what it read first.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined || expected.all.length < enough || tallyOf(view, 'act').count === 0)
      return undefined;
    const strange = view.tools.filter(([hash]) => !expected.all.some((past) => past.tools.has(hash)));
    const calls = strange.reduce((sum, [, tool]) => sum + tool.count, 0);
    const acting = strange.some(([, tool]) => (tool.bits & actionBits) !== 0);
    if (calls < manyNewCalls || !acting) return undefined;
    return matched(
      [firstOf(tallyOf(view, 'act'))],
      Math.min(1, calls / 6),
      `${counted(calls, 'call')} used tools that no past session used.`,
      calls,
    );
  },
  fires: [
    {
      name: 'a reader becomes a payer',
      steps: ['get_invoice', 'send_payment', 'send_payment', 'delete_file'],
      history: Array.from({ length: 6 }, () => ['read_file', 'search_files']),
    },
  ],
  quiet: [
    {
      name: 'much as before',
      steps: ['read_file', 'search_files', 'write_file'],
      history: Array.from({ length: 6 }, () => ['read_file', 'search_files', 'write_file']),
    },
  ],
};
