import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** A new tool whose name is nearly that of a known one. */
export const supplyLookalikeTool: Rule = {
  id: 'supply.lookalike-tool',
  title: 'New tool with nearly the name of a known one',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal: 'A new tool’s name differs from a known tool’s by one or two letters, and not by another word.',
  weight: 0.45,
  cluster: 'new-tool',
  falsePositives: 'A tool that was renamed to correct a spelling.',
  recommendation: {
    title: 'Compare the new tool with the known one',
    text: 'See which server offers it. Deny it by a policy until its origin is clear.',
  },
  detect: (view) =>
    stamped(view, 'tool_lookalike', 1, 'A new tool has nearly the name of one that is known.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'send_emial', stamps: ['tool_lookalike'] }] }],
  quiet: [{ name: 'the known tool', steps: ['send_email'] }],
};
