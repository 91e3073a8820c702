import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** An agent at work after it was revoked. */
export const rogueRevokedAgent: Rule = {
  id: 'rogue.revoked-agent',
  title: 'At work after revocation',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Events come from an agent whose status is revoked.',
  weight: 0.95,
  deterministic: true,
  habitual: false,
  falsePositives: 'Events that were recorded before the revocation and delivered after it.',
  recommendation: {
    title: 'Rotate the key and stop the process',
    text: 'Revoking stops an agent only where its guard asks: rotate the key that it uses, and end its process.',
  },
  detect: (view) => stamped(view, 'agent_revoked', 1, 'The agent was at work although it had been revoked.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'read_file', stamps: ['agent_revoked'] }] }],
  quiet: [{ name: 'active', steps: ['read_file'] }],
};
