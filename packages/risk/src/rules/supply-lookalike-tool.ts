import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects a new tool whose name is similar to a known one. */
export const supplyLookalikeTool: Rule = {
  id: 'supply.lookalike-tool',
  title: 'New tool with a name similar to a known one',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal: 'A new tool’s name differs from a known tool’s by one or two letters, and not by another word.',
  weight: 0.45,
  acts: ['tool_lookalike'],
  cluster: 'new-tool',
  falsePositives: 'A tool that was renamed to correct a spelling.',
  recommendation: {
    title: 'Compare the new tool with the known one',
    text: 'Find out which server offers it. Deny it with a policy until its origin is clear.',
  },
  detect: (view) =>
    stamped(view, 'tool_lookalike', 1, 'The name of a new tool is similar to that of a known one.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'send_emial', stamps: ['tool_lookalike'] }] }],
  quiet: [{ name: 'the known tool', steps: ['send_email'] }],
};
