import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

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
